// Reads a state once for all requests that wait for it: after a change, thousands of them cost the store one statement.

/** A held request. */
export interface Waiter<State> {
  /** Reads the state; all requests of a reading read the same. */
  read(): Promise<State>;
  /** Is called with the state that was read after a change. */
  receive(state: Promise<State>): void;
}

export class SharedReading<State> {
  readonly #waiters = new Set<Waiter<State>>();
  #isReading = false;
  #isOutdated = false;

  /** The number of held requests. */
  get size(): number {
    return this.#waiters.size;
  }

  add(waiter: Waiter<State>): void {
    this.#waiters.add(waiter);
  }

  remove(waiter: Waiter<State>): void {
    this.#waiters.delete(waiter);
  }

  /** Reads the state for all that wait now. Changes during the reading are read together after it. */
  ring(): void {
    this.#isOutdated = true;
    if (!this.#isReading) void this.#readWhileOutdated();
  }

  async #readWhileOutdated(): Promise<void> {
    this.#isReading = true;
    while (this.#isOutdated) {
      this.#isOutdated = false;
      // A request that comes during the reading has read a later state itself.
      const [first, ...others] = this.#waiters;
      if (first === undefined) break;
      const state = (async () => await first.read())();
      await state.catch(() => undefined);
      for (const waiter of [first, ...others]) waiter.receive(state);
    }
    this.#isReading = false;
  }
}
