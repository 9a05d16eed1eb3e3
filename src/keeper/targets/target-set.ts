// All targets as one store: objects are written to each, and read from the first that has them undamaged.
import type { Log } from "../../lib/line-log.ts";
import type { Sealer } from "../envelope.ts";
import { archivePrefix, ownerOf } from "../names.ts";
import {
  DamagedObject,
  MissingObject,
  WrongKey,
  type ObjectStore,
  type StoredObject,
} from "../object-store.ts";
import { catchUp } from "./catch-up.ts";
import { KeptTarget } from "./kept-target.ts";
import { TargetNotes } from "./target-notes.ts";
import type { Throttle } from "./throttle.ts";
import type { Target } from "./target.ts";

/** A remote target that is slower than the log has others wait once so much waits for it. */
const MAX_BACKGROUND_BYTES = 64 * 1024 ** 2;
/** The same for a single archive, before it has others wait. */
const MAX_BACKGROUND_BYTES_OF_ONE = 16 * 1024 ** 2;

const TEND_INTERVAL_MS = 10_000;

export interface TargetSetOptions {
  /** The folder of the keeper's own notes. */
  notesDir: string;
  sealer: Sealer;
  throttle: Throttle;
  log: Log;
}

export class TargetSet implements ObjectStore {
  readonly targets: KeptTarget[];
  readonly sealer: Sealer;
  readonly #throttle: Throttle;
  readonly #log: Log;
  readonly #timer: ReturnType<typeof setInterval>;
  #catchingUp: Promise<void> | null = null;

  /** @param targets at least one, the preferred one for reading first. */
  constructor(targets: Target[], { notesDir, sealer, throttle, log }: TargetSetOptions) {
    this.sealer = sealer;
    this.#throttle = throttle;
    this.#log = log;
    this.targets = targets.map(
      (target) => new KeptTarget(target, new TargetNotes(notesDir, target.name), sealer, log),
    );
    this.#timer = setInterval(() => void this.tend(), TEND_INTERVAL_MS);
  }

  /** Why a target cannot be used, as a sentence for the operator; null when all can. */
  get lastError(): string | null {
    return this.targets.map(({ lastError }) => lastError).find((error) => error !== null) ?? null;
  }

  /** Whether all targets that were tried were made with another key. */
  get hasWrongKey(): boolean {
    return this.targets.every(({ hasWrongKey }) => hasWrongKey);
  }

  async put(name: string, bytes: Uint8Array, isBrief = false): Promise<void> {
    await this.putSealed(name, await this.sealer.seal(name, bytes, isBrief));
  }

  /** @throws when no target has the object; targets that lack it get it later. */
  async putSealed(name: string, sealed: Uint8Array): Promise<void> {
    const [near, far] = [false, true].map((isRemote) =>
      this.targets.filter(({ target }) => target.isRemote === isRemote),
    ) as [KeptTarget[], KeptTarget[]];
    const farWrites = far.map((kept) => ({ kept, write: this.#write(kept, name, sealed) }));
    const nearErrors = await Promise.all(near.map((kept) => this.#write(kept, name, sealed)));
    if (nearErrors.includes(null)) {
      for (const { kept, write } of farWrites) kept.keep(write, name, sealed.length);
      await Promise.all(far.map((kept) => haveRoom(kept, name)));
      return;
    }
    const errors = [...nearErrors, ...(await Promise.all(farWrites.map(({ write }) => write)))];
    if (!errors.includes(null)) throw errors[0];
  }

  /**
   * Stores an object that says that others are complete, at the targets that have all of these.
   * @throws when no target has them all.
   */
  async putLast(name: string, bytes: Uint8Array, others: StoredObject[], prefix: string): Promise<void> {
    const sealed = await this.sealer.seal(name, bytes);
    const errors = await Promise.all(
      this.targets.map(async (kept) => {
        try {
          await kept.settled(prefix);
          const there = await kept.list(prefix);
          const missing = firstMissing(others, there);
          if (missing === undefined) return await this.#write(kept, name, sealed);
          kept.isBehind = true;
          return new MissingObject(missing);
        } catch (error) {
          kept.isBehind = true;
          return error;
        }
      }),
    );
    if (!errors.includes(null)) throw errors[0];
  }

  /** @throws MissingObject, DamagedObject, WrongKey, TargetError: what says most about all targets. */
  async get(name: string): Promise<Uint8Array> {
    const errors: unknown[] = [];
    for (const kept of this.targets) {
      try {
        const sealed = await kept.read(name);
        return await this.sealer.open(name, sealed).catch(asDamaged);
      } catch (error) {
        errors.push(error);
      }
    }
    const damaged = errors.find((error) => error instanceof DamagedObject);
    throw damaged ?? errors.find((error) => !(error instanceof MissingObject)) ?? errors[0];
  }

  /** What the targets that answer have together. @throws when none answers. */
  async list(prefix: string): Promise<StoredObject[]> {
    const listings = await Promise.allSettled(this.targets.map((kept) => kept.list(prefix)));
    const answers = listings.filter((listing) => listing.status === "fulfilled");
    if (answers.length === 0) throw listings.find((listing) => listing.status === "rejected")?.reason;
    const found = new Map<string, StoredObject>();
    for (const { value } of answers.toReversed()) for (const object of value) found.set(object.name, object);
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** A target that cannot be reached deletes the object when it is back. @throws when none can be reached. */
  async delete(name: string): Promise<void> {
    const errors = await Promise.all(
      this.targets.map(async (kept) => {
        try {
          await kept.use((target) => target.delete(name));
          return null;
        } catch (error) {
          kept.notes.addDeletion(name);
          kept.isBehind = true;
          return error;
        }
      }),
    );
    if (!errors.includes(null)) throw errors[0];
  }

  /** Brings targets that were away up to date, and writes what waits. It runs by itself every few seconds. */
  async tend(): Promise<void> {
    this.#catchingUp ??= this.#catchUpAll().finally(() => (this.#catchingUp = null));
    await this.#catchingUp;
    // A log that is slow to write must not hold up the next flush of others, so flushes may overlap.
    await Promise.all(this.targets.filter(({ isUsable }) => isUsable).map((kept) => this.#flush(kept)));
  }

  /** Writes what waits, and begins nothing more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#catchingUp;
    await Promise.all(this.targets.map((kept) => this.#flush(kept)));
    await Promise.all(this.targets.map((kept) => kept.settled()));
  }

  async #catchUpAll(): Promise<void> {
    for (const kept of this.targets) if (kept.isUsable && kept.isBehind) await this.#catchUp(kept);
  }

  async #catchUp(kept: KeptTarget): Promise<void> {
    kept.isBehind = false;
    try {
      const copied = await catchUp(kept, this.targets, this.#throttle);
      if (copied > 0) this.#log.info({ target: kept.target.name, copied }, "a backup target was caught up");
    } catch (error) {
      kept.isBehind = true;
      this.#log.warn({ error, target: kept.target.name }, "a backup target cannot be caught up yet");
    }
  }

  async #flush(kept: KeptTarget): Promise<void> {
    const settled = (prefix: string) => kept.settled(prefix);
    // A failure is noted with the target, and what waits is written by a later flush.
    await kept.use(async (target) => target.flush?.(settled)).catch(() => undefined);
  }

  /** @returns null, or the error. */
  async #write(kept: KeptTarget, name: string, sealed: Uint8Array): Promise<unknown> {
    try {
      await kept.use((target) => target.write(name, sealed));
      kept.notes.dropDeletions([name]);
      return null;
    } catch (error) {
      kept.isBehind = true;
      return error;
    }
  }
}

/** Waits until no more waits for a target than may, of the object's archive and in all. */
async function haveRoom(kept: KeptTarget, name: string): Promise<void> {
  const owner = ownerOf(name);
  const prefix = owner === null ? name : archivePrefix(owner.archive);
  await kept.settledBelow(MAX_BACKGROUND_BYTES_OF_ONE, prefix);
  await kept.settledBelow(MAX_BACKGROUND_BYTES);
}

/** The targets were proved to have the right key, so another key in an object is damage. */
function asDamaged(error: unknown): never {
  if (error instanceof WrongKey) throw new DamagedObject(error.object, "it was sealed with another key");
  throw error;
}

function firstMissing(expected: StoredObject[], there: StoredObject[]): string | undefined {
  const sizes = new Map(there.map(({ name, storedBytes }) => [name, storedBytes]));
  return expected.find(({ name, storedBytes }) => sizes.get(name) !== storedBytes)?.name;
}
