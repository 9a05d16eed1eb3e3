// Waits until nothing is under way between the clients of an instance and its engine.
import type { Timer, Timers } from "../sockets/timers.ts";

const LOOK_INTERVAL_MS = 5;

interface DrainOptions {
  withinMs: number;
  isIdle(): boolean;
  /** Whether to give up at once, because a client needs the engine. */
  isWanted(): boolean;
  drained(): void;
  /** Called when the time is over, or the drain is given up. */
  busy(): void;
}

export class Drain {
  readonly #timers: Timers;
  readonly #options: DrainOptions;
  readonly #giveUpAtMs: number;
  #timer: Timer;

  constructor(timers: Timers, options: DrainOptions) {
    this.#timers = timers;
    this.#options = options;
    this.#giveUpAtMs = timers.now() + options.withinMs;
    this.#timer = timers.after(0, () => this.#look());
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #look(): void {
    if (this.#options.isWanted()) return this.#options.busy();
    if (this.#options.isIdle()) return this.#options.drained();
    if (this.#timers.now() >= this.#giveUpAtMs) return this.#options.busy();
    this.#timer = this.#timers.after(LOOK_INTERVAL_MS, () => this.#look());
  }
}
