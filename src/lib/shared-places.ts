// Bounds how many of something happen at once, in all and for each owner. Owners have their turns, so that a slow owner, or
// an owner with many tasks, leaves places to others.
import { OwnerTurns } from "./owner-turns.ts";

interface Waiting {
  owner: string;
  begin(): void;
}

export class SharedPlaces {
  readonly #count: number;
  readonly #countOfOne: number;
  readonly #turns = new OwnerTurns();
  #waiting: Waiting[] = [];
  #taken = 0;

  /** @param countOfOne how many of the places one owner has at most. */
  constructor(count: number, countOfOne: number) {
    this.#count = count;
    this.#countOfOne = countOfOne;
  }

  /**
   * Does the task in a place of the owner.
   * @throws what the task throws, or the reason of a signal that is aborted before it begins.
   */
  async run<T>(owner: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.#enter(owner, signal);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /** Waits for a place; the returned function frees it, and is called once. */
  async #enter(owner: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiting = { owner, begin: () => resolve(this.#begin(owner)) };
    const giveUp = () => {
      this.#waiting = this.#waiting.filter((each) => each !== waiting);
      reject(signal?.reason);
    };
    this.#waiting.push(waiting);
    signal?.addEventListener("abort", giveUp);
    this.#admit();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  #admit(): void {
    while (this.#taken < this.#count) {
      const ready = this.#waiting.filter(({ owner }) => this.#turns.underWay(owner) < this.#countOfOne);
      const next = this.#turns.next(ready);
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      next.begin();
    }
  }

  /** Takes a place. */
  #begin(owner: string): () => void {
    const end = this.#turns.begin(owner);
    this.#taken += 1;
    return () => {
      this.#taken -= 1;
      end();
      this.#admit();
    };
  }
}
