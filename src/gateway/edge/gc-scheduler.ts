// Gives memory back after many clients have gone. Bun does so when its event loop is idle, which the gateway's own one never lets
// it be.
import type { Timer, Timers } from "../reactor/timers.ts";

/** Each leaves about 4 kB; below this the next ones use what is there. */
const ENOUGH_CLIENTS = 1_000;
/** Looking through all memory takes some 8 ms for each thousand clients that are connected, so it is not done often. */
const DELAY_MS = 5_000;

export class GcScheduler {
  readonly #timers: Timers;
  #gone = 0;
  #timer: Timer | null = null;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** A client has gone. */
  note(): void {
    this.#gone += 1;
    if (this.#gone < ENOUGH_CLIENTS || this.#timer !== null) return;
    this.#timer = this.#timers.after(DELAY_MS, () => {
      this.#timer = null;
      this.#gone = 0;
      Bun.gc(true);
    });
  }
}
