// Waits until the connections to an engine that is about to be stopped are closed.
import type { SocketStream } from "../sockets/socket-stream.ts";
import type { Timer, Timers } from "../sockets/timers.ts";

/** How long protocol handlers may get no answer to their last questions to an engine before it stops. */
const SILENT_MS = 2_000;
/**
 * The most that the time between two looks counts as silence. While this process was frozen, answers arrived that it has
 * not read yet.
 */
const MOST_SILENT_PER_LOOK_MS = 100;
/** The longest time for all answers; the host waits a little longer. */
const LONGEST_MS = 20_000;
const LOOK_INTERVAL_MS = 1;

export class Disconnection {
  readonly #timers: Timers;
  readonly #open: ReadonlySet<SocketStream>;
  /** The connections that were open at the beginning; later connections are not waited for. */
  readonly #engines: SocketStream[];
  readonly #parted: () => void;
  readonly #giveUpAtMs: number;
  /** How many connections are still open, and how long there have been no fewer. */
  #left: { count: number; silentMs: number };
  #lookedAtMs: number;
  #timer: Timer | null = null;

  /** @param open loses each connection when it is closed. */
  constructor(timers: Timers, open: ReadonlySet<SocketStream>, parted: () => void) {
    this.#timers = timers;
    this.#open = open;
    this.#engines = [...open];
    this.#parted = parted;
    this.#lookedAtMs = timers.now();
    this.#giveUpAtMs = this.#lookedAtMs + LONGEST_MS;
    this.#left = { count: open.size, silentMs: 0 };
  }

  /** Stops the wait; the protocol handlers end the connections that are still open. */
  cancel(): void {
    this.#timer?.cancel();
  }

  begin(): void {
    const nowMs = this.#timers.now();
    this.#left.silentMs += Math.min(MOST_SILENT_PER_LOOK_MS, nowMs - this.#lookedAtMs);
    this.#lookedAtMs = nowMs;
    // The answers to thousands of clients take a while on a busy machine, so it counts whether more have come.
    if (this.#open.size < this.#left.count) this.#left = { count: this.#open.size, silentMs: 0 };
    if (nowMs >= this.#giveUpAtMs || this.#left.silentMs >= SILENT_MS)
      for (const engine of this.#engines) engine.close();
    if (!this.#engines.some((engine) => this.#open.has(engine))) return this.#parted();
    this.#timer = this.#timers.after(LOOK_INTERVAL_MS, () => this.begin());
  }
}
