// The input of a terminal: waits, within a bound, until the program reads it.
import { ACKNOWLEDGED_AT, TERMINAL_WINDOW } from "../../contracts/terminal.ts";

/** How soon input is tried again that the kernel had no room for, at first and later. */
const [FIRST_RETRY_MS, LAST_RETRY_MS] = [5, 100];

/** So many small pieces become a larger piece. */
const MAX_PIECES = 64;

interface Sink {
  /** @returns how many bytes were taken. */
  write(bytes: Uint8Array): number;
}

export class TerminalInput {
  readonly #acknowledge: (bytes: number) => void;
  #sink: Sink | null = null;
  #waiting: Uint8Array[] = [];
  /** Bytes that came and are not acknowledged, and those of them that were taken. */
  #unacknowledged = 0;
  #taken = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;

  /** @param acknowledge is called with the number of further bytes that were taken. */
  constructor(acknowledge: (bytes: number) => void) {
    this.#acknowledge = acknowledge;
  }

  /** @returns false when the client has sent more than it may. */
  add(bytes: Uint8Array): boolean {
    this.#unacknowledged += bytes.length;
    if (this.#unacknowledged > TERMINAL_WINDOW) return false;
    this.#waiting.push(bytes);
    if (this.#waiting.length > MAX_PIECES) this.#waiting = [Buffer.concat(this.#waiting)];
    if (this.#retry === undefined) this.#write();
    return true;
  }

  /** From here on, input goes to the sink. */
  open(sink: Sink): void {
    this.#sink = sink;
    this.#write();
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#sink = null;
    this.#waiting = [];
  }

  #write(): void {
    this.#retry = undefined;
    while (this.#sink !== null) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      const taken = this.#sink.write(first);
      this.#taken += taken;
      if (taken > 0) this.#retryMs = FIRST_RETRY_MS;
      if (taken < first.length) {
        this.#waiting[0] = first.subarray(taken);
        this.#retry = setTimeout(() => this.#write(), this.#retryMs);
        this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
        break;
      }
      this.#waiting.shift();
    }
    this.#acknowledgeTaken();
  }

  #acknowledgeTaken(): void {
    if (this.#taken < ACKNOWLEDGED_AT) return;
    const taken = this.#taken;
    this.#taken = 0;
    this.#unacknowledged -= taken;
    this.#acknowledge(taken);
  }
}
