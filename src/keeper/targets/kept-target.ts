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
  #isCleared = false;
  #failure: Failure | null = null;
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
    if (this.#failure === null) return null;
    const { error } = this.#failure;
    if (error instanceof WrongKey)
      return `The backup target ${this.target.name} was made with another key than that of the key file.`;
    if (error instanceof DamagedObject)
      return `The backup target ${this.target.name} cannot be used: ${error.message}.`;
    return messageOf(error);
  }

  get hasWrongKey(): boolean {
    return this.#failure?.error instanceof WrongKey;
  }

  /** Whether a use would be tried now. */
  get isUsable(): boolean {
    return this.#failure === null || Date.now() >= this.#failure.retryAt;
  }

  /**
   * Uses the target, unless it failed a moment ago.
   * @throws the error of the use, or of the former use.
   */
  async use<T>(work: (target: Target) => Promise<T>): Promise<T> {
    if (!this.isUsable) throw this.#failure?.error;
    try {
      await this.#open();
    } catch (error) {
      this.#failed(error);
      throw error;
    }
    try {
      const result = await work(this.target);
      this.#worked();
      return result;
    } catch (error) {
      if (error instanceof MissingObject || error instanceof DamagedObject) this.#worked();
      else this.#failed(error);
      throw error;
    }
  }

  /** Whether it can be used now, which it is asked for. */
  async answers(): Promise<boolean> {
    return this.isUsable && (await this.use(async () => true).catch(() => false));
  }

  /** Whether objects of a folder that were written before are not stored yet. */
  waits(folder: string): boolean {
    return this.#backgroundOf(folder).length > 0 || this.target.waits?.(folder) === true;
  }

  /** What the target has, but for what is still to be deleted there. */
  async list(prefix: string): Promise<StoredObject[]> {
    const found = await this.use((target) => target.list(prefix));
    return found.filter(({ name }) => !this.notes.isDeleted(name));
  }

  /** @throws MissingObject also for an object that is still to be deleted there. */
  async read(name: string): Promise<Uint8Array> {
    return await this.use(async (target) => {
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
    if (!this.#isCleared) await this.target.clear?.();
    this.#isCleared = true;
    await openTarget(this.target, this.#sealer, this.notes.wasUsed);
    this.notes.noteUse();
  }

  #worked(): void {
    if (this.#failure !== null) this.#log.info({ target: this.target.name }, "a backup target works again");
    this.#failure = null;
  }

  #failed(error: unknown): void {
    // The place may be another one when it is back, such as a folder without its disk.
    this.#opened = null;
    const count = (this.#failure?.count ?? 0) + 1;
    if (count === 1) this.#log.error({ error, target: this.target.name }, "a backup target failed");
    this.#failure = {
      error,
      count,
      retryAt: Date.now() + backoffMs(count, FIRST_RETRY_MS, LONGEST_RETRY_MS),
    };
  }
}
