// Measures the disk use of instances, one after the other, with at most a small part of one processor.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { StorageReading } from "../../contracts/host-answers.ts";

/** The pause between two rounds. */
const ROUND_PAUSE_MS = 5_000;

/** The pause after each instance, as a multiple of the time that its measurement took. */
const PAUSE_FACTOR = 19;

/** An instance to measure. */
export interface MeasuredInstance {
  id: string;
  /** When its sleep began, which leaves its data as it is; null for an instance that may write. */
  asleepSinceMs: number | null;
}

/** The latest measurement of an instance. */
interface Measured {
  bytes: number;
  asleepSinceMs: number | null;
  /** Grows with each change of any instance. */
  sequence: number;
}

/** Keeps the latest measurements, and reports the changes since an earlier reading. */
export class StorageMeter {
  /** The cursor of an earlier process is invalid for this one. */
  readonly #process = randomUUID();
  readonly #instances: () => MeasuredInstance[];
  readonly #measure: (id: string) => Promise<number>;
  readonly #measured = new Map<string, Measured>();
  readonly #stopping = new AbortController();
  #sequence = 0;

  /** @param measure measures the bytes of one instance; it never throws. */
  constructor(instances: () => MeasuredInstance[], measure: (id: string) => Promise<number>) {
    this.#instances = instances;
    this.#measure = measure;
  }

  /** Measures round by round until `stop`. */
  async run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      await this.measureAll();
      await this.#pause(ROUND_PAUSE_MS);
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Runs one round. */
  async measureAll(): Promise<void> {
    const instances = this.#instances();
    const present = new Set(instances.map(({ id }) => id));
    for (const id of this.#measured.keys()) if (!present.has(id)) this.#measured.delete(id);
    for (const instance of instances) {
      if (this.#stopping.signal.aborted) return;
      if (this.#isAtRest(instance)) continue;
      const startedAt = performance.now();
      this.#note(instance, await this.#measure(instance.id));
      await this.#pause((performance.now() - startedAt) * PAUSE_FACTOR);
    }
  }

  /** The latest measurement of an instance; undefined before the first. */
  bytesOf(id: string): number | undefined {
    return this.#measured.get(id)?.bytes;
  }

  /** The sizes that have changed since the reading with this cursor; all sizes for an unknown cursor. */
  readingAfter(cursor: string | undefined): StorageReading {
    const [process, sequence] = cursor?.split(" ") ?? [];
    const after = process === this.#process ? Number(sequence) : 0;
    const changed = [...this.#measured].filter(([, measured]) => measured.sequence > after);
    return {
      cursor: `${this.#process} ${this.#sequence}`,
      bytes: Object.fromEntries(changed.map(([id, { bytes }]) => [id, bytes])),
    };
  }

  #isAtRest({ id, asleepSinceMs }: MeasuredInstance): boolean {
    return asleepSinceMs !== null && this.#measured.get(id)?.asleepSinceMs === asleepSinceMs;
  }

  #note({ id, asleepSinceMs }: MeasuredInstance, bytes: number): void {
    const former = this.#measured.get(id);
    const isSame = former?.bytes === bytes;
    if (!isSame) this.#sequence += 1;
    this.#measured.set(id, { bytes, asleepSinceMs, sequence: isSame ? former.sequence : this.#sequence });
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => undefined);
  }
}
