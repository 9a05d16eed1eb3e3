// Gives memory back after many clients have gone. Bun does so when its event loop is idle, but the gateway's own loop
// blocks Bun's.
import type { Timer, Timers } from "../reactor/timers.ts";

/** Each client leaves about 4 kB; the memory of fewer clients is left for the next clients. */
const ENOUGH_CLIENTS = 1_000;
/** A collection takes some 8 ms for each thousand connected clients, so collections are rare. */
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
