// Limits how many engines start at a time: more than the processors can take only makes all of them late.
import { availableParallelism } from "node:os";

/** A longer start, such as a recovery, does not use the processors all the time. */
const LONGEST_HOLD_MS = 2_000;

export class StartLimiter {
  readonly #limit: number;
  readonly #urgent: (() => void)[] = [];
  readonly #others: (() => void)[] = [];
  #count = 0;

  constructor(limit = 2 * availableParallelism()) {
    this.#limit = limit;
  }

  /**
   * Waits for a turn.
   * @param isUrgent whether a client waits for the start; urgent starts go first.
   * @returns a function that lets the next start in; further calls do nothing.
   */
  async enter(isUrgent: boolean): Promise<() => void> {
    if (this.#count < this.#limit) this.#count += 1;
    else await new Promise<void>((resolve) => (isUrgent ? this.#urgent : this.#others).push(resolve));
    let hasLeft = false;
    const leave = () => {
      clearTimeout(timer);
      if (!hasLeft) this.#leave();
      hasLeft = true;
    };
    const timer = setTimeout(leave, LONGEST_HOLD_MS);
    return leave;
  }

  /** Passes the place on to the next start that waits. */
  #leave(): void {
    const next = this.#urgent.shift() ?? this.#others.shift();
    if (next === undefined) this.#count -= 1;
    else next();
  }
}
