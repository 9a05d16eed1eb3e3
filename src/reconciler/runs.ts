// The runs of a loop that are under way, in two rooms: one for most, and a larger one for slow runs.
import { keyOf, type Job } from "./queue.ts";

/** Runs mostly wait for engines, so many of them fit on few cores. */
export const MAX_RUNS = 32;
/** A slow run does nothing but wait, and a request of its own asked for each. */
const MAX_SLOW_RUNS = 256;
/** Organizations that share quotas and have so many runs get no further ones, so that others have room. */
const MAX_RUNS_OF_FAMILY = 128;

/** A run that is under way. */
export interface Run {
  /** Whether it has a place among the slow runs, and so leaves its own to another. */
  isSlow: boolean;
  /** Whether it counts as slow as soon as there is a place. */
  isLong: boolean;
  familyId: string | null;
  ended: Promise<void>;
  abort: AbortController;
}

export class Runs {
  /** By the key of the work item. */
  readonly #runs = new Map<string, Run>();
  readonly #longMs: number;
  readonly #onChange: () => void;

  /**
   * @param longMs the time after which a run is long.
   * @param onChange called when there may be room for another run.
   */
  constructor(longMs: number, onChange: () => void) {
    this.#longMs = longMs;
    this.#onChange = onChange;
  }

  /** The keys of the work items. */
  get keys(): string[] {
    return [...this.#runs.keys()];
  }

  /** Begins a run. */
  begin(job: Job, isSlow: boolean, work: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController();
    const ended = work(abort.signal).finally(() => {
      clearTimeout(timer);
      this.#runs.delete(keyOf(job));
      this.#onChange();
    });
    const run: Run = { isSlow, isLong: isSlow, familyId: job.familyId, ended, abort };
    const timer = setTimeout(() => {
      run.isLong = true;
      this.#onChange();
    }, this.#longMs);
    this.#runs.set(keyOf(job), run);
  }

  abort(key: string): void {
    this.#runs.get(key)?.abort.abort();
  }

  /** Aborts all runs. @returns when they have ended. */
  async end(): Promise<void> {
    for (const run of this.#runs.values()) run.abort.abort();
    await Promise.all([...this.#runs.values()].map((run) => run.ended));
  }

  /** Gives long runs the places of slow runs, as far as there are any. */
  makeRoom(): void {
    const long = [...this.#runs.values()].filter((run) => run.isLong && !run.isSlow);
    for (const run of long.slice(0, this.roomFor(true))) run.isSlow = true;
  }

  /** How many more runs there is room for. */
  roomFor(isSlow: boolean): number {
    const running = [...this.#runs.values()].filter((run) => run.isSlow === isSlow).length;
    return (isSlow ? MAX_SLOW_RUNS : MAX_RUNS) - running;
  }

  /** The families of organizations that have as many runs as they may. */
  crowded(): string[] {
    const byFamily = Map.groupBy(this.#runs.values(), ({ familyId }) => familyId);
    return [...byFamily].flatMap(([id, runs]) =>
      id !== null && runs.length >= MAX_RUNS_OF_FAMILY ? [id] : [],
    );
  }
}
