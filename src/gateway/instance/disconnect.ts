// Waits until the connections to an engine that is about to be stopped are closed.
import type { SocketStream } from "../sockets/socket-stream.ts";
import type { Timer, Timers } from "../sockets/timers.ts";

/** The time that protocol handlers have for their last questions to an engine before it stops. */
const LONGEST_MS = 2_000;
const LOOK_INTERVAL_MS = 1;

export class Disconnection {
  readonly #timers: Timers;
  readonly #open: ReadonlySet<SocketStream>;
  /** The connections that were open at the beginning; later connections are not waited for. */
  readonly #engines: SocketStream[];
  readonly #parted: () => void;
  readonly #giveUpAtMs: number;
  #timer: Timer | null = null;

  /** @param open loses each connection when it is closed. */
  constructor(timers: Timers, open: ReadonlySet<SocketStream>, parted: () => void) {
    this.#timers = timers;
    this.#open = open;
    this.#engines = [...open];
    this.#parted = parted;
    this.#giveUpAtMs = timers.now() + LONGEST_MS;
  }

  /** Stops the wait; the protocol handlers end the connections that are still open. */
  cancel(): void {
    this.#timer?.cancel();
  }

  begin(): void {
    if (this.#timers.now() >= this.#giveUpAtMs) for (const engine of this.#engines) engine.close();
    if (!this.#engines.some((engine) => this.#open.has(engine))) return this.#parted();
    this.#timer = this.#timers.after(LOOK_INTERVAL_MS, () => this.begin());
  }
}
