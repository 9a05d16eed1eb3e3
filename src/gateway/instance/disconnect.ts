// Waits until the connections to an engine that is about to be stopped are closed.
import type { SocketStream } from "../reactor/socket-stream.ts";
import type { Timer, Timers } from "../reactor/timers.ts";

/** How long protocol handlers may take to ask an engine what they want to know before it stops. */
const LONGEST_MS = 2_000;
const LOOK_INTERVAL_MS = 1;

export class Disconnection {
  readonly #timers: Timers;
  readonly #open: ReadonlySet<SocketStream>;
  /** Connections that came later are none of its business. */
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

  /** Nobody waits for them any more; protocol handlers end those that are still open. */
  cancel(): void {
    this.#timer?.cancel();
  }

  begin(): void {
    if (this.#timers.now() >= this.#giveUpAtMs) for (const engine of this.#engines) engine.close();
    if (!this.#engines.some((engine) => this.#open.has(engine))) return this.#parted();
    this.#timer = this.#timers.after(LOOK_INTERVAL_MS, () => this.begin());
  }
}
