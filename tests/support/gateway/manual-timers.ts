// Timers by a clock that a test turns by hand: they run when the test says so.

import type { Timer, Timers } from "../../../src/gateway/sockets/timers.ts";

interface Entry {
  atMs: number;
  action: () => void;
}

export class ManualTimers implements Timers {
  #entries: Entry[] = [];
  /** The clock, in milliseconds that never go back. */
  readonly now: () => number;

  constructor(now: () => number) {
    this.now = now;
  }

  after(delayMs: number, action: () => void): Timer {
    const entry: Entry = { atMs: this.now() + delayMs, action };
    const later = this.#entries.findIndex(({ atMs }) => atMs > entry.atMs);
    this.#entries.splice(later < 0 ? this.#entries.length : later, 0, entry);
    return {
      cancel: () => {
        this.#entries = this.#entries.filter((each) => each !== entry);
      },
    };
  }

  /** Runs all due timers, in the order of their times. A timer that throws is not run again. */
  run(): void {
    const nowMs = this.now();
    for (;;) {
      const [next] = this.#entries;
      if (next === undefined || next.atMs > nowMs) return;
      this.#entries.shift();
      next.action();
    }
  }

  /** When the next timer is due; null without timers. */
  get nextAtMs(): number | null {
    return this.#entries[0]?.atMs ?? null;
  }
}
