// Time that a model turns by hand, and random numbers that a seed repeats.
import { jest } from "bun:test";

/** The real `setImmediate`, which fake timers leave alone. */
const { setImmediate } = globalThis;

/** More turns of promises than any step takes to reach its next wait. */
const LONGEST_CHAIN = 100;

/** Numbers from 0 up to but without `below`. */
export type Random = (below: number) => number;

export function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Bun's fake timers, in order, with all consequences of each timer done before the next. */
export class ModelClock {
  readonly #outside = new Set<Promise<unknown>>();

  /** Makes `settle` wait for work in real time, for example on a disk. */
  waitFor(work: Promise<unknown>): void {
    this.#outside.add(work);
    // The caller that began it handles its failure.
    const settled = work.catch(() => undefined);
    void settled.then(() => this.#outside.delete(work));
  }

  /** Resolves when nothing but timers is left to happen. */
  async settle(): Promise<void> {
    for (let turns = 0; turns < LONGEST_CHAIN; turns++) await Promise.resolve();
    while (this.#outside.size > 0) {
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }

  async pass(ms: number): Promise<void> {
    const end = { isReached: false };
    setTimeout(() => (end.isReached = true), ms);
    while (!end.isReached) {
      jest.advanceTimersToNextTimer();
      await this.settle();
    }
  }
}
