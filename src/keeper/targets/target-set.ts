// All targets as one store: objects are written to each, and read from the first that has them undamaged.
import { forEachLimited } from "../../lib/for-each-limited.ts";
import type { Log } from "../../lib/line-log.ts";
import type { Sealer } from "../envelope.ts";
import { archivePrefix, folderOf, ownerOf } from "../names.ts";
import {
  DamagedObject,
  MissingObject,
  WrongKey,
  type ObjectStore,
  type StoredObject,
} from "../object-store.ts";
import { catchUp, deleteNoted } from "./catch-up.ts";
import { KeptTarget } from "./kept-target.ts";
import { haveNothingBut, type Listing, listingOf } from "./listing.ts";
import { TargetNotes, type Deletion } from "./target-notes.ts";
import type { Throttle } from "./throttle.ts";
import type { Target } from "./target.ts";

/** A remote target that is slower than the log has others wait once so much waits for it. */
const MAX_BACKGROUND_BYTES = 64 * 1024 ** 2;
/** The same for a single archive, before it has others wait. */
const MAX_BACKGROUND_BYTES_OF_ONE = 16 * 1024 ** 2;

const TEND_INTERVAL_MS = 10_000;

/** So many logs have postponed deletions carried out at once. */
const FOLDERS_AT_ONCE = 4;

interface TargetSetOptions {
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
  /** Targets at which postponed deletions are under way. */
  readonly #deleting = new Set<KeptTarget>();
  #catchingUp: Promise<void> | null = null;
  #isClosing = false;

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
          kept.backlog.add();
          return new MissingObject(missing);
        } catch (error) {
          kept.backlog.add();
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
    return (await this.listing(prefix)).objects;
  }

  /** The same, with the targets that answered. */
  async listing(prefix: string): Promise<Listing> {
    return await listingOf(this.targets, prefix);
  }

  /** Whether every target answers, and has no other object whose name begins with the prefix. */
  async hasNothingBut(name: string, prefix: string): Promise<boolean> {
    return await haveNothingBut(this.targets, name, prefix);
  }

  /**
   * An unreachable target deletes the object when it is back. A target that lacks the object's replacement deletes it
   * after getting that.
   * @throws when none can be reached.
   */
  async delete(name: string): Promise<void> {
    const errors = await Promise.all(this.targets.map((kept) => this.#delete(kept, name)));
    if (!errors.includes(null)) throw errors[0];
  }

  /** Brings targets that were away up to date, and writes what waits. It runs by itself every few seconds. */
  async tend(): Promise<void> {
    this.#catchingUp ??= this.#catchUpAll().finally(() => (this.#catchingUp = null));
    await this.#catchingUp;
    // A log that is slow to write must not hold up the next flush of others, so flushes may overlap.
    await Promise.all(this.targets.filter(({ takesWrites }) => takesWrites).map((kept) => this.#flush(kept)));
  }

  /** Writes what waits, and begins nothing more. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#catchingUp;
    this.#isClosing = true;
    await Promise.all(this.targets.map((kept) => this.#flush(kept)));
    await Promise.all(this.targets.map((kept) => kept.settled()));
  }

  async #catchUpAll(): Promise<void> {
    for (const kept of this.targets) {
      if (!kept.isUsable) continue;
      if (kept.backlog.isBehind || (await someAnswer(kept.unseen))) await this.#catchUp(kept);
    }
  }

  async #catchUp(kept: KeptTarget): Promise<void> {
    const { sealer, targets } = this;
    const end = kept.backlog.beginCatchUp();
    let hasWorked = false;
    try {
      const others = targets.filter((other) => other !== kept);
      const answers = await Promise.all(others.map((other) => other.answers()));
      const unseen = others.filter((_, index) => answers[index] === false);
      const copied = await catchUp({
        kept,
        others: others.filter((other) => !unseen.includes(other)),
        areAllThere: unseen.length === 0,
        isFirst: kept === targets[0],
        sealer,
        throttle: this.#throttle,
      });
      kept.unseen = unseen;
      hasWorked = true;
      if (copied > 0) this.#log.info({ target: kept.target.name, copied }, "a backup target was caught up");
    } catch (error) {
      this.#log.warn({ error, target: kept.target.name }, "a backup target cannot be caught up yet");
    } finally {
      end(hasWorked);
    }
  }

  /** Writes what waits, and then deletes what waits for that. */
  async #flush(kept: KeptTarget): Promise<void> {
    const { postponed } = kept.backlog;
    const settled = async (prefix: string) => {
      await kept.settled(prefix);
      // What waits may say that this object is there, so it waits until the target is caught up. That is no failure of it.
      if (kept.backlog.isIncomplete(prefix) && !this.#isClosing) throw new MissingObject(prefix);
    };
    try {
      await kept.use("write", async (target) => target.flush?.(settled));
      await this.#deletePostponed(kept, postponed);
    } catch {
      // A failure is noted with the target, and what waits is left to a later flush.
    }
  }

  async #deletePostponed(kept: KeptTarget, postponed: Deletion[]): Promise<void> {
    if (this.#deleting.has(kept)) return;
    this.#deleting.add(kept);
    try {
      const folders = Map.groupBy(postponed, ({ name }) => folderOf(name));
      await forEachLimited(folders, FOLDERS_AT_ONCE, async ([folder, deletions]) => {
        await kept.settled(folder);
        const due = deletions.filter((deletion) => kept.backlog.isPostponed(deletion));
        await deleteNoted(kept, due);
      });
    } finally {
      this.#deleting.delete(kept);
    }
  }

  /** @returns null, or the error. */
  async #write(kept: KeptTarget, name: string, sealed: Uint8Array): Promise<unknown> {
    // A deletion that is noted from now on is one of this object, too.
    const deletions = kept.notes.deletionsOf(name);
    try {
      await kept.use("write", (target) => target.write(name, sealed));
      kept.notes.dropDeletions(deletions);
      return null;
    } catch (error) {
      kept.backlog.addWrite(name);
      return error;
    }
  }

  /** @returns null, or the error. */
  async #delete(kept: KeptTarget, name: string): Promise<unknown> {
    const { backlog } = kept;
    const folder = folderOf(name);
    try {
      await kept.use("delete", async (target) => {
        if (backlog.isIncomplete(folder)) return backlog.addDeletion(name);
        if (!kept.waits(folder)) return await target.delete(name);
        target.drop?.(name);
        backlog.postpone(name);
      });
      return await savedOr(kept, null);
    } catch (error) {
      backlog.addDeletion(name);
      return await savedOr(kept, error);
    }
  }
}

/** The caller forgets an object that it had deleted, so a deletion that waits must outlast a power cut. */
async function savedOr({ notes }: KeptTarget, error: unknown): Promise<unknown> {
  if (notes.hasDeletions) await notes.save();
  return error;
}

async function someAnswer(targets: KeptTarget[]): Promise<boolean> {
  for (const kept of targets) if (await kept.answers()) return true;
  return false;
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
