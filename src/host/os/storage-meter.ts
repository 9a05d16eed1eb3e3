// Measures what instances take on the disk, one after the other, with a small part of one processor at most.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { StorageReading } from "../../drivers/driver.ts";

/** Between two rounds. */
const ROUND_PAUSE_MS = 5_000;

/** After each instance comes a pause so many times as long as it took. */
const PAUSE_FACTOR = 19;

/** An instance whose use of the disk is of interest. */
export interface MeasuredInstance {
  id: string;
  /** Since when it sleeps, which leaves its data as it is; null for one that may write. */
  asleepSince: string | null;
}

/** What was measured of an instance last. */
interface Measured {
  bytes: number;
  asleepSince: string | null;
  /** Grows with each change of any instance. */
  sequence: number;
}

/** Keeps what was measured, and tells what has changed since somebody asked last. */
export class StorageMeter {
  /** Cursors of an earlier process mean nothing to this one. */
  readonly #process = randomUUID();
  readonly #instances: () => MeasuredInstance[];
  readonly #measure: (id: string) => Promise<number>;
  readonly #measured = new Map<string, Measured>();
  readonly #stopping = new AbortController();
  #sequence = 0;

  /** @param measure tells the bytes of one instance; it never throws. */
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

  /** One round. */
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

  /** What has changed since the reading with this cursor; all for a cursor that is not known. */
  readingAfter(cursor: string | undefined): StorageReading {
    const [process, sequence] = cursor?.split(" ") ?? [];
    const after = process === this.#process ? Number(sequence) : 0;
    const changed = [...this.#measured].filter(([, measured]) => measured.sequence > after);
    return {
      cursor: `${this.#process} ${this.#sequence}`,
      bytes: Object.fromEntries(changed.map(([id, { bytes }]) => [id, bytes])),
    };
  }

  #isAtRest({ id, asleepSince }: MeasuredInstance): boolean {
    return asleepSince !== null && this.#measured.get(id)?.asleepSince === asleepSince;
  }

  #note({ id, asleepSince }: MeasuredInstance, bytes: number): void {
    const former = this.#measured.get(id);
    const isSame = former?.bytes === bytes;
    if (!isSame) this.#sequence += 1;
    this.#measured.set(id, { bytes, asleepSince, sequence: isSame ? former.sequence : this.#sequence });
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal, ref: false }).catch(() => undefined);
  }
}
