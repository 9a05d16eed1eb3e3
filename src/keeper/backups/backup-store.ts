// Stores the streams of backups as parts, declares them complete, reads them back, and deletes them.
import {
  backupInfoSchema,
  type BackupFacts,
  type BackupInfo,
  type StoredStream,
} from "../../contracts/keeper.ts";
import { PublicError } from "../../lib/errors.ts";
import { ahead } from "../../lib/ahead.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { forEachLimited } from "../../lib/for-each-limited.ts";
import { backupObject, backupPrefix, PART_BYTES, partObject, partsPrefix, streamObject } from "../names.ts";
import { DamagedObject, MissingObject, type StoredObject } from "../object-store.ts";
import { Places } from "../../lib/places.ts";
import type { TargetSet } from "../targets/target-set.ts";
import type { Throttle } from "../targets/throttle.ts";
import { storeParts } from "./store-parts.ts";
import { encodeJson, encodeStream, readJsonObject, readStream } from "./stream-object.ts";

const MAX_STREAMS = 3;
/** Of all streams together; each takes some times the size of a part in memory. */
const MAX_PARTS_AT_ONCE = 6;
/** 16 TB. */
const MAX_PARTS = 1_000_000;
const DELETES_AT_ONCE = 4;

/** The backup is in a state in which the request makes no sense. */
export class BackupConflict extends PublicError {
  override name = "BackupConflict";
}

export class BackupStore {
  readonly #store: TargetSet;
  readonly #throttle: Throttle;
  readonly #places = new Places(MAX_STREAMS);
  readonly #partPlaces = new Places(MAX_PARTS_AT_ONCE);
  readonly #partBytes: number;
  /** The prefixes of backups whose streams are being stored. */
  readonly #writing = new Set<string>();
  /** The prefixes of backups that are being declared complete, with the number of such requests. */
  readonly #completing = new Map<string, number>();
  /** The prefixes of backups of which what is left is being deleted. */
  readonly #clearing = new Map<string, Promise<boolean>>();

  constructor(store: TargetSet, throttle: Throttle, partBytes = PART_BYTES) {
    this.#store = store;
    this.#throttle = throttle;
    this.#partBytes = partBytes;
  }

  /** Whether the stream of the backup is being stored now, or the backup is being declared complete. */
  isActive(archive: string, backup: string): boolean {
    const prefix = backupPrefix(archive, backup);
    return this.#writing.has(prefix) || this.#completing.has(prefix);
  }

  /**
   * Stores a stream, in place of an earlier stream that did not become a backup.
   * @throws BackupConflict when the backup is complete, or its stream is being stored by another request.
   */
  async write(archive: string, backup: string, stream: AsyncIterable<Uint8Array>): Promise<StoredStream> {
    const prefix = backupPrefix(archive, backup);
    await this.#untilCleared(prefix);
    if (this.#writing.has(prefix)) throw new BackupConflict("The backup is being stored already.");
    this.#writing.add(prefix);
    try {
      return await this.#places.run(() => this.#writeStream(archive, backup, stream));
    } finally {
      this.#writing.delete(prefix);
    }
  }

  /** Resolves when nothing of a backup is being deleted as a leftover. */
  async #untilCleared(prefix: string): Promise<void> {
    for (let clearing = this.#clearing.get(prefix); clearing !== undefined;) {
      await clearing.catch(() => undefined);
      clearing = this.#clearing.get(prefix);
    }
  }

  async #writeStream(
    archive: string,
    backup: string,
    stream: AsyncIterable<Uint8Array>,
  ): Promise<StoredStream> {
    const former = await this.#store.list(backupPrefix(archive, backup));
    const name = backupObject(archive, backup);
    if (former.some((object) => object.name === name))
      throw new BackupConflict("The backup is complete already.");
    await this.#deleteAll(former);
    const { plainBytes, sizes } = await storeParts(
      stream,
      this.#partBytes,
      this.#partPlaces,
      async (index, part) => await this.#writePart(archive, backup, index, part),
    );
    const sums = { partCount: sizes.length, plainBytes, storedBytes: sizes.reduce((a, b) => a + b, 0) };
    const list = encodeStream({ ...sums, parts: sizes });
    const parts = partObjects(archive, backup, sizes);
    await this.#store.putLast(streamObject(archive, backup), list, parts, partsPrefix(archive, backup));
    return sums;
  }

  /** @returns how many bytes the part takes at the target. */
  async #writePart(archive: string, backup: string, index: number, part: Uint8Array): Promise<number> {
    if (index >= MAX_PARTS) throw new PublicError("The backup is too large.");
    const name = partObject(archive, backup, index);
    const sealed = await this.#store.sealer.seal(name, part);
    await this.#throttle.take(sealed.length);
    await this.#store.putSealed(name, sealed);
    await failpoint("keeper.backup.part");
    return sealed.length;
  }

  /**
   * Declares a stored stream to be a backup; a backup that is complete stays as it is.
   * @throws BackupConflict when the stream is not stored.
   */
  async complete(archive: string, backup: string, facts: BackupFacts): Promise<BackupInfo> {
    const prefix = backupPrefix(archive, backup);
    await this.#untilCleared(prefix);
    this.#completing.set(prefix, (this.#completing.get(prefix) ?? 0) + 1);
    try {
      return await this.#complete(archive, backup, facts);
    } finally {
      const others = (this.#completing.get(prefix) ?? 1) - 1;
      if (others > 0) this.#completing.set(prefix, others);
      else this.#completing.delete(prefix);
    }
  }

  async #complete(archive: string, backup: string, facts: BackupFacts): Promise<BackupInfo> {
    const known = await this.#find(archive, backup);
    if (known !== null) return known;
    const { parts, ...sums } = await readStream(this.#store, archive, backup).catch((error: unknown) => {
      if (error instanceof MissingObject)
        throw new BackupConflict("The backup's stream is not stored.", error);
      throw error;
    });
    const info: BackupInfo = { ...facts, id: backup, archive, ...sums };
    await failpoint("keeper.backup.complete");
    const name = backupObject(archive, backup);
    const objects = partObjects(archive, backup, parts);
    await this.#store.putLast(name, encodeJson(info), objects, partsPrefix(archive, backup));
    return info;
  }

  /** @throws MissingObject, DamagedObject. */
  async info(archive: string, backup: string): Promise<BackupInfo> {
    const name = backupObject(archive, backup);
    const info = await readJsonObject(this.#store, name, backupInfoSchema);
    if (info.id !== backup || info.archive !== archive)
      throw new DamagedObject(name, "it is of another backup");
    return info;
  }

  /**
   * The stream of a backup, each part verified before any of it is passed on.
   * @throws MissingObject when there is no such backup; later DamagedObject or MissingObject that name the part.
   */
  async read(archive: string, backup: string): Promise<AsyncGenerator<Uint8Array>> {
    return this.#readParts(await this.info(archive, backup));
  }

  async *#readParts({ archive, id, partCount, plainBytes }: BackupInfo): AsyncGenerator<Uint8Array> {
    let length = 0;
    // The next part is read and opened while the reader takes the part before it.
    for await (const part of ahead(partCount, (index) => this.#store.get(partObject(archive, id, index)))) {
      length += part.length;
      yield part;
    }
    if (length !== plainBytes) throw new DamagedObject(backupObject(archive, id), "its parts do not add up");
  }

  /** Deletes a backup, or what is left of one. */
  async delete(archive: string, backup: string): Promise<void> {
    // Without this object the others are garbage, whenever the deletion goes on.
    await this.#store.delete(backupObject(archive, backup));
    await failpoint("keeper.backup.delete");
    await this.#store.delete(streamObject(archive, backup));
    await this.#deleteAll(await this.#store.list(backupPrefix(archive, backup)));
  }

  /**
   * Deletes what is left of a backup that does not exist.
   * @returns false when it is active, or when it exists.
   */
  async deleteLeftover(archive: string, backup: string): Promise<boolean> {
    const prefix = backupPrefix(archive, backup);
    if (this.isActive(archive, backup) || this.#clearing.has(prefix)) return false;
    const clearing = this.#clear(archive, backup);
    this.#clearing.set(prefix, clearing);
    try {
      return await clearing;
    } finally {
      this.#clearing.delete(prefix);
    }
  }

  async #clear(archive: string, backup: string): Promise<boolean> {
    // It may have become a backup since it was listed.
    if ((await this.#find(archive, backup)) !== null) return false;
    await this.delete(archive, backup);
    return true;
  }

  /** Null for a backup that no target that answers has. */
  async #find(archive: string, backup: string): Promise<BackupInfo | null> {
    const name = backupObject(archive, backup);
    const isThere = (await this.#store.list(name)).some((object) => object.name === name);
    return isThere ? await this.info(archive, backup) : null;
  }

  async #deleteAll(objects: StoredObject[]): Promise<void> {
    await forEachLimited(objects, DELETES_AT_ONCE, ({ name }) => this.#store.delete(name));
  }
}

function partObjects(archive: string, backup: string, sizes: number[]): StoredObject[] {
  return sizes.map((storedBytes, index) => ({ name: partObject(archive, backup, index), storedBytes }));
}
