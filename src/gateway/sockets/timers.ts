// The gateway's clock and timers: those of the runtime, or of a test that turns its clock by hand.

/** An action that runs once; `cancel` may be called at any time. */
export interface Timer {
  cancel(): void;
}

export interface Timers {
  /** The clock, in milliseconds that never go back. */
  now(): number;
  after(delayMs: number, action: () => void): Timer;
}

/** The longest delay that the runtime takes, some 24 days; a timer with a longer delay runs then. */
const LONGEST_MS = 2 ** 31 - 1;

/** The timers of the runtime. */
export class RuntimeTimers implements Timers {
  readonly #onFault: (error: unknown) => void;

  /** @param onFault gets the error of an action. */
  constructor(onFault: (error: unknown) => void) {
    this.#onFault = onFault;
  }

  now(): number {
    return performance.now();
  }

  after(delayMs: number, action: () => void): Timer {
    const run = () => {
      try {
        action();
      } catch (error) {
        this.#onFault(error);
      }
    };
    const timer = setTimeout(run, Math.min(LONGEST_MS, delayMs));
    return { cancel: () => clearTimeout(timer) };
  }
}
