// A target with its condition: opened before its first use, left alone for a while after a failure, caught up later.
import { backoffMs } from "../../lib/backoff.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Log } from "../../lib/line-log.ts";
import type { Sealer } from "../envelope.ts";
import { DamagedObject, MissingObject, WrongKey, type StoredObject } from "../object-store.ts";
import { Backlog } from "./backlog.ts";
import { openTarget } from "./opening.ts";
import type { TargetNotes } from "./target-notes.ts";
import type { Target } from "./target.ts";

const [FIRST_RETRY_MS, LONGEST_RETRY_MS] = [500, 15_000];

interface BackgroundWrite {
  name: string;
  bytes: number;
}

/** What a target is used for. A listing is a read. */
type Use = "read" | "write" | "delete";
const USES: Use[] = ["read", "write", "delete"];

interface Failure {
  error: unknown;
  count: number;
  retryAt: number;
}

export class KeptTarget {
  readonly target: Target;
  readonly notes: TargetNotes;
  readonly backlog: Backlog;
  /** Targets that were away when it was caught up, and may have more. */
  unseen: KeptTarget[] = [];
  /** Whether the keeper has learned what it has since the start. */
  isRead = false;
  readonly #sealer: Sealer;
  readonly #log: Log;
  #opened: Promise<void> | null = null;
  #cleared: Promise<void> | null = null;
  /** The failures since each use worked last. */
  readonly #failures = new Map<Use, Failure>();
  /** Writes that nobody waits for. */
  readonly #background = new Map<Promise<unknown>, BackgroundWrite>();

  constructor(target: Target, notes: TargetNotes, sealer: Sealer, log: Log) {
    this.target = target;
    this.notes = notes;
    this.backlog = new Backlog(notes);
    this.#sealer = sealer;
    this.#log = log;
  }

  /** Why the latest use failed, as a sentence for the operator; null when it did not. */
  get lastError(): string | null {
    const { error } = this.#failureOf(USES) ?? {};
    if (error === undefined) return null;
    if (error instanceof WrongKey)
      return `The backup target ${this.target.name} was made with another key than that of the key file.`;
    if (error instanceof DamagedObject)
      return `The backup target ${this.target.name} cannot be used: ${error.message}.`;
    return messageOf(error);
  }

  get hasWrongKey(): boolean {
    return this.#failures.get("read")?.error instanceof WrongKey;
  }

  /** Whether a read would be tried now. */
  get isUsable(): boolean {
    return !isPausing(this.#failureOf(["read"]));
  }

  /** Whether a write would be tried now. */
  get takesWrites(): boolean {
    return this.isUsable && !isPausing(this.#failureOf(["write"]));
  }

  /**
   * Uses the target, unless it failed a moment ago. A target that cannot be opened or read is left alone. A target that
   * takes no writes, such as a full disk, is still read, and what is deleted there makes room.
   * @throws the error of the use, or of the former use.
   */
  async use<T>(use: Use, work: (target: Target) => Promise<T>): Promise<T> {
    for (const failure of [this.#failureOf(["read"]), this.#failureOf([use])])
      if (isPausing(failure)) throw failure?.error;
    try {
      await this.#open();
    } catch (error) {
      this.#failed("read", error);
      throw error;
    }
    try {
      if (use === "write") await this.#clear();
      const result = await work(this.target);
      this.#worked(use);
      return result;
    } catch (error) {
      if (error instanceof MissingObject || error instanceof DamagedObject) this.#worked(use);
      else this.#failed(use, error);
      throw error;
    }
  }

  /** Whether it can be used now, which it is asked for. */
  async answers(): Promise<boolean> {
    return this.isUsable && (await this.use("read", async () => true).catch(() => false));
  }

  /** Whether objects of a folder that were written before are not stored yet. */
  waits(folder: string): boolean {
    return this.#backgroundOf(folder).length > 0 || this.target.waits?.(folder) === true;
  }

  /** What the target has, but for what is still to be deleted there. */
  async list(prefix: string): Promise<StoredObject[]> {
    const found = await this.use("read", (target) => target.list(prefix));
    return found.filter(({ name }) => !this.notes.isDeleted(name));
  }

  /** @throws MissingObject also for an object that is still to be deleted there. */
  async read(name: string): Promise<Uint8Array> {
    return await this.use("read", async (target) => {
      if (this.notes.isDeleted(name)) throw new MissingObject(name);
      return await target.read(name);
    });
  }

  /** Lets a write go on by itself. */
  keep(write: Promise<unknown>, name: string, bytes: number): void {
    const ended = write.finally(() => this.#background.delete(ended));
    this.#background.set(ended, { name, bytes });
  }

  /** Resolves when the writes of objects with the prefix that were left alone so far have ended. */
  async settled(prefix = ""): Promise<void> {
    await Promise.all(this.#backgroundOf(prefix).map(([ended]) => ended));
  }

  /** Resolves when the writes of objects with the prefix that were left alone are of no more than so many bytes. */
  async settledBelow(bytes: number, prefix = ""): Promise<void> {
    for (;;) {
      const writes = this.#backgroundOf(prefix);
      if (writes.reduce((sum, [, write]) => sum + write.bytes, 0) <= bytes) return;
      await Promise.race(writes.map(([ended]) => ended));
    }
  }

  #backgroundOf(prefix: string): [Promise<unknown>, BackgroundWrite][] {
    return [...this.#background].filter(([, { name }]) => name.startsWith(prefix));
  }

  async #open(): Promise<void> {
    this.#opened ??= this.#openNow();
    const opened = this.#opened;
    try {
      await opened;
    } catch (error) {
      if (this.#opened === opened) this.#opened = null;
      throw error;
    }
  }

  async #openNow(): Promise<void> {
    await openTarget(this.target, this.#sealer, this.notes.wasUsed);
    this.notes.noteUse();
  }

  /** Before the first write, not at the opening: a disk that is read-only can be read all the same. */
  async #clear(): Promise<void> {
    this.#cleared ??= this.target.clear?.() ?? Promise.resolve();
    const cleared = this.#cleared;
    try {
      await cleared;
    } catch (error) {
      if (this.#cleared === cleared) this.#cleared = null;
      throw error;
    }
  }

  /** The first failure of some uses. */
  #failureOf(uses: Use[]): Failure | undefined {
    return uses.map((use) => this.#failures.get(use)).find((failure) => failure !== undefined);
  }

  #worked(use: Use): void {
    const hadFailed = this.#failures.size > 0;
    this.#failures.delete("read");
    this.#failures.delete(use);
    if (hadFailed && this.#failures.size === 0)
      this.#log.info({ target: this.target.name }, "a backup target works again");
  }

  #failed(use: Use, error: unknown): void {
    // The place may be another one when it is back, such as a folder without its disk.
    this.#opened = null;
    const count = (this.#failures.get(use)?.count ?? 0) + 1;
    if (count === 1) this.#log.error({ error, target: this.target.name, use }, "a backup target failed");
    const retryAt = Date.now() + backoffMs(count, FIRST_RETRY_MS, LONGEST_RETRY_MS);
    this.#failures.set(use, { error, count, retryAt });
  }
}

function isPausing(failure: Failure | undefined): boolean {
  return failure !== undefined && Date.now() < failure.retryAt;
}
