// Whether the clock of the machine has gone evenly for a while, so that nothing is deleted by a wrong time.

/** A larger difference between the clocks is a clock that was set, or a machine that slept. */
const MOST_DRIFT_MS = 60_000;

/** A machine that starts with a wrong clock has the right time from the network by then. */
const STEADY_MS = 9 * 60_000;

/** The two clocks of a machine, in milliseconds. */
export interface Clocks {
  /** The time since 1970, which may be set. */
  wall(): number;
  /** The time since any moment, which only goes on. */
  monotonic(): number;
}

/** The clocks of this machine. */
export const MACHINE_CLOCKS: Clocks = { wall: () => Date.now(), monotonic: () => performance.now() };

export class SteadyClock {
  readonly #clocks: Clocks;
  #differenceMs: number;
  #sinceMs: number;

  constructor(clocks: Clocks = MACHINE_CLOCKS) {
    this.#clocks = clocks;
    this.#sinceMs = clocks.monotonic();
    this.#differenceMs = clocks.wall() - this.#sinceMs;
  }

  /** Whether the time may be relied on: no look of the last minutes has found the clock set. False at first. */
  isSteady(): boolean {
    const nowMs = this.#clocks.monotonic();
    const differenceMs = this.#clocks.wall() - nowMs;
    if (Math.abs(differenceMs - this.#differenceMs) > MOST_DRIFT_MS) this.#sinceMs = nowMs;
    this.#differenceMs = differenceMs;
    return nowMs - this.#sinceMs >= STEADY_MS;
  }
}
