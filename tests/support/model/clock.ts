// Time that a model turns by hand, and chance that comes again with its seed.
import { jest } from "bun:test";

/** The one that fake timers leave alone. */
const { setImmediate } = globalThis;

/** More turns of promises than one thing takes to lead to the next that has to wait. */
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

/** Bun's fake timers, one after the other, with all that follows from each of them done before the next one. */
export class ModelClock {
  readonly #outside = new Set<Promise<unknown>>();

  /** Has `settle` wait for something that goes by the real time, such as a disk. */
  waitFor(work: Promise<unknown>): void {
    this.#outside.add(work);
    // Whoever began it hears how it ended.
    const settled = work.catch(() => undefined);
    void settled.then(() => this.#outside.delete(work));
  }

  /** Resolves when nothing happens any more but timers. */
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
