// A remote target that gets objects which change every second only every few seconds, since each request costs money.
import { folderOf } from "../names.ts";
import type { StoredObject } from "../object-store.ts";
import type { Target } from "./target.ts";

/**
 * Parts of the newest segment of a log, and how far the log is stored. The last part of a file does not wait, since the
 * engine may delete the file as soon as the next one is shipped.
 */
const LATE = /\.partial(?:\.(?!FFFFFFFF\.)|$)|\/watermark\.json$/;
const WATERMARK = "watermark.json";

/** Objects that wait, by their names, in the order in which they were written: a watermark comes after its segment. */
type Waiting = Map<string, Uint8Array>;

export class LateTarget implements Target {
  readonly isRemote = true;
  readonly #target: Target;
  /** By the folder of their names. The order of the objects of one log counts; logs do not wait for each other. */
  readonly #late = new Map<string, Waiting>();
  /** The folders whose objects are being written. */
  readonly #flushes = new Map<string, Promise<void>>();
  /** The latest task for each name; tasks for a name run in their order. */
  readonly #tasks = new Map<string, Promise<unknown>>();

  constructor(target: Target) {
    this.#target = target;
  }

  get name(): string {
    return this.#target.name;
  }

  async write(name: string, sealed: Uint8Array): Promise<void> {
    if (!LATE.test(name)) return await this.#inOrder(name, () => this.#target.write(name, sealed));
    const folder = folderOf(name);
    const waiting: Waiting = this.#late.get(folder) ?? new Map<string, Uint8Array>();
    this.#late.set(folder, waiting);
    waiting.delete(name);
    waiting.set(name, sealed);
  }

  /**
   * Writes what waits: all logs at once, the objects of each in their order. What fails waits on, with all after it, unless
   * there is something newer. @throws the first failure, when all have ended.
   */
  async flush(settled: (prefix: string) => Promise<void>): Promise<void> {
    const flushes = [...this.#late.keys()].map((folder) => this.#flushOnce(folder, settled));
    const failed = (await Promise.allSettled(flushes)).find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
  }

  async read(name: string): Promise<Uint8Array> {
    return this.#late.get(folderOf(name))?.get(name) ?? (await this.#target.read(name));
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const found = new Map((await this.#target.list(prefix)).map((object) => [object.name, object]));
    for (const waiting of this.#late.values()) {
      for (const [name, { length }] of waiting)
        if (name.startsWith(prefix)) found.set(name, { name, storedBytes: length });
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  waits(folder: string): boolean {
    return this.#late.has(folder);
  }

  drop(name: string): void {
    this.#drop(name);
    // The watermark may speak of the object, so it now comes after what has replaced that.
    const folder = folderOf(name);
    const waiting = this.#late.get(folder);
    const watermark = waiting?.get(folder + WATERMARK);
    if (waiting === undefined || watermark === undefined) return;
    waiting.delete(folder + WATERMARK);
    waiting.set(folder + WATERMARK, watermark);
  }

  async delete(name: string): Promise<void> {
    this.#drop(name);
    await this.#inOrder(name, () => this.#target.delete(name));
  }

  /** A folder that is being flushed takes along what is added meanwhile. */
  async #flushOnce(folder: string, settled: (prefix: string) => Promise<void>): Promise<void> {
    const flush = this.#flushes.get(folder) ?? this.#flushFolder(folder, settled);
    this.#flushes.set(folder, flush);
    try {
      await flush;
    } finally {
      if (this.#flushes.get(folder) === flush) this.#flushes.delete(folder);
    }
  }

  async #flushFolder(folder: string, settled: (prefix: string) => Promise<void>): Promise<void> {
    for (;;) {
      const [first] = this.#late.get(folder) ?? [];
      if (first === undefined) return;
      const [name, sealed] = first;
      // A segment that was written before this object may still be on its way.
      await settled(folder);
      await this.#inOrder(name, async () => {
        if (this.#late.get(folder)?.get(name) !== sealed) return;
        await this.#target.write(name, sealed);
        if (this.#late.get(folder)?.get(name) === sealed) this.#drop(name);
      });
    }
  }

  #drop(name: string): void {
    const folder = folderOf(name);
    const waiting = this.#late.get(folder);
    waiting?.delete(name);
    if (waiting?.size === 0) this.#late.delete(folder);
  }

  async #inOrder(name: string, task: () => Promise<void>): Promise<void> {
    const run = (this.#tasks.get(name) ?? Promise.resolve()).then(task, task);
    this.#tasks.set(name, run);
    try {
      await run;
    } finally {
      if (this.#tasks.get(name) === run) this.#tasks.delete(name);
    }
  }
}
