// Bounds how many of something happen at once; others wait in the order of their arrival.

export class Places {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a place; the returned function frees it. @throws the reason of the signal when that is aborted first. */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return this.#leaving();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      const index = this.#waiting.indexOf(resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      reject(signal?.reason);
    };
    this.#waiting.push(resolve);
    signal?.addEventListener("abort", giveUp);
    try {
      await promise;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
    return this.#leaving();
  }

  /** Does the task in a place. @throws what the task throws, or the reason of a signal that is aborted before it begins. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const leave = await this.enter(signal);
    try {
      return await task();
    } finally {
      leave();
    }
  }

  /**
   * Does the task in a place. Without a free place the caller does not wait for it, and does not learn how it ends.
   * @throws what the task throws while a place was free.
   */
  async runUnawaited(task: () => Promise<void>): Promise<void> {
    const isFree = this.#free > 0;
    const done = this.run(task);
    if (isFree) await done;
    else done.catch(() => {});
  }

  /** Gives the place to the next in line, or frees it; a second call does nothing. */
  #leaving(): () => void {
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    };
  }
}
