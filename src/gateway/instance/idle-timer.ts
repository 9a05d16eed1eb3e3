// When an instance was used last, and telling that it was not for as long as it takes to fall asleep.
import type { Route } from "../link.ts";
import type { Timer, Timers } from "../reactor/timers.ts";

/** It is told again after so long at most, while the engine itself may be at work unseen. */
const LONGEST_REPEAT_MS = 10_000;

export class IdleTimer {
  readonly #timers: Timers;
  readonly #tellQuiet: () => void;
  #latestMs: number;
  #sleepAfterMs: number | null = null;
  #isDraining = false;
  #timer: Timer | null = null;

  constructor(timers: Timers, tellQuiet: () => void) {
    this.#timers = timers;
    this.#tellQuiet = tellQuiet;
    this.#latestMs = timers.now();
  }

  /** Somebody uses it now. */
  note(nowMs = this.#timers.now()): void {
    this.#latestMs = nowMs;
  }

  /** Begins to count when the engine is up, and stops when it is not. To have tried to fall asleep is no use. */
  watch({ state, sleepAfterSeconds }: Route): void {
    this.#isDraining = state === "draining";
    const isUp = state === "running" || this.#isDraining;
    const sleepAfterMs = isUp && sleepAfterSeconds !== null ? sleepAfterSeconds * 1_000 : null;
    if (sleepAfterMs === this.#sleepAfterMs) return;
    if (this.#sleepAfterMs === null) this.note();
    this.#sleepAfterMs = sleepAfterMs;
    this.#timer?.cancel();
    if (sleepAfterMs !== null) this.#lookIn(this.#latestMs + sleepAfterMs - this.#timers.now());
  }

  stop(): void {
    this.#timer?.cancel();
  }

  #lookIn(ms: number): void {
    this.#timer = this.#timers.after(Math.max(0, ms), () => this.#look());
  }

  #look(): void {
    if (this.#sleepAfterMs === null) return;
    const remainingMs = this.#latestMs + this.#sleepAfterMs - this.#timers.now();
    if (remainingMs > 0) return this.#lookIn(remainingMs);
    // Whoever drains knows, and those who are held may have something to say.
    if (!this.#isDraining) this.#tellQuiet();
    this.#lookIn(Math.min(this.#sleepAfterMs, LONGEST_REPEAT_MS));
  }
}
