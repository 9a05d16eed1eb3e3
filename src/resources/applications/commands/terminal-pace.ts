// The pace of a terminal's client. Each of its frames takes time of this process and of the host, however small it is, so
// frames that come too fast are joined or slow their client down.
import type { TerminalSize } from "../../../contracts/terminal.ts";

/** A person, a paste and the acknowledgements of a fast output need fewer frames. */
const FRAMES_PER_SECOND = 500;
const FRAMES_IN_A_ROW = 1_000;

/** A client that joins its bytes and its acknowledgements, and waits, never sends so many frames more. */
const MAX_FRAMES_BEYOND = 3_000;

/** The pause between two changes of the size, and before the pace of a fast client is looked at again. */
const PAUSE_MS = 50;

type Side = "host" | "client";

/** Counts the frames of a client, and holds acknowledgements back while there were too many. */
export class ClientPace {
  readonly #pass: (to: Side, bytes: number) => void;
  readonly #now: () => number;
  #allowance = FRAMES_IN_A_ROW;
  #countedAtMs: number;
  /** Bytes whose acknowledgements are held back. */
  #held = { host: 0, client: 0 };
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param pass sends an acknowledgement. @param now a clock that never goes back, in milliseconds. */
  constructor(pass: (to: Side, bytes: number) => void, now: () => number = () => performance.now()) {
    this.#pass = pass;
    this.#now = now;
    this.#countedAtMs = now();
  }

  /** Counts a frame. @returns false when more have come than from a client that waits for acknowledgements. */
  take(): boolean {
    this.#refill();
    this.#allowance -= 1;
    return this.#allowance >= -MAX_FRAMES_BEYOND;
  }

  /** Passes an acknowledgement on, once the client keeps its pace. So a fast client has less to send meanwhile. */
  acknowledge(to: Side, bytes: number): void {
    this.#held[to] += bytes;
    if (this.#timer === undefined) this.#passHeld();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#held = { host: 0, client: 0 };
  }

  #passHeld(): void {
    this.#timer = undefined;
    this.#refill();
    if (this.#allowance < 0) {
      this.#timer = setTimeout(() => this.#passHeld(), PAUSE_MS);
      return;
    }
    const { host, client } = this.#held;
    this.#held = { host: 0, client: 0 };
    if (host > 0) this.#pass("host", host);
    if (client > 0) this.#pass("client", client);
  }

  #refill(): void {
    const nowMs = this.#now();
    const more = ((nowMs - this.#countedAtMs) / 1_000) * FRAMES_PER_SECOND;
    this.#allowance = Math.min(FRAMES_IN_A_ROW, this.#allowance + more);
    this.#countedAtMs = nowMs;
  }
}

/** The size of a client's window. After each change that the host gets, further changes wait for a pause; only the last is sent. */
export class WindowSize {
  readonly #send: (size: TerminalSize) => void;
  #latest: TerminalSize;
  /** The size that the host has; null before it has the terminal. */
  #sent: TerminalSize | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(first: TerminalSize, send: (size: TerminalSize) => void) {
    this.#latest = first;
    this.#send = send;
  }

  get latest(): TerminalSize {
    return this.#latest;
  }

  change(size: TerminalSize): void {
    this.#latest = size;
    if (this.#sent !== null && this.#timer === undefined) this.#passOn(this.#sent);
  }

  /** The host has opened the terminal with a size, which may have changed since. */
  opened(size: TerminalSize): void {
    this.#passOn(size);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#sent = null;
  }

  #passOn(sent: TerminalSize): void {
    this.#timer = undefined;
    const latest = this.#latest;
    this.#sent = latest;
    if (latest.columns === sent.columns && latest.rows === sent.rows) return;
    this.#timer = setTimeout(() => this.#passOn(latest), PAUSE_MS);
    this.#send(latest);
  }
}
