// Knows when an instance was used last, and reports the instance when it has been idle for as long as its spec says.
import type { Route } from "../../contracts/gateway-link.ts";
import type { Timer, Timers } from "../sockets/timers.ts";

/** The longest pause between reports: the host may refuse a report while the engine works unseen by the gateway. */
const LONGEST_REPEAT_MS = 10_000;

export class IdleTimer {
  readonly #timers: Timers;
  readonly #onIdle: () => void;
  #latestMs: number;
  #sleepAfterMs: number | null = null;
  #isDraining = false;
  #timer: Timer | null = null;

  constructor(timers: Timers, onIdle: () => void) {
    this.#timers = timers;
    this.#onIdle = onIdle;
    this.#latestMs = timers.now();
  }

  /** Records that a client uses the instance now. */
  note(nowMs = this.#timers.now()): void {
    this.#latestMs = nowMs;
  }

  /** Counts while the engine is up. A drain does not reset the count: an attempt to fall asleep is not use. */
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
    // During a drain the host knows already, and a held client may be about to need the engine.
    if (!this.#isDraining) this.#onIdle();
    this.#lookIn(Math.min(this.#sleepAfterMs, LONGEST_REPEAT_MS));
  }
}
