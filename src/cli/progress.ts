// One line about something that is being waited for. A terminal sees it change, a log file gets it once.
import type { Io } from "./io.ts";

const TICK_MS = 1000;

/** What the line tells besides the time. */
export interface ProgressState {
  status: string;
  lastError: string | null;
}

/** The line; it must be ended, or its clock goes on. */
export class Progress {
  readonly #io: Io;
  readonly #subject: string;
  readonly #startMs: number;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #state: ProgressState;

  /** @param subject what is waited for, such as `sessions to be available`. */
  constructor(io: Io, subject: string, state: ProgressState) {
    this.#io = io;
    this.#subject = subject;
    this.#startMs = io.nowMs();
    this.#state = state;
    if (!io.isErrTerminal) {
      io.err(`Waiting for ${subject}\n`);
      return;
    }
    this.#timer = setInterval(() => this.#draw(), TICK_MS);
    this.#draw();
  }

  /** Tells what is known now. */
  update(state: ProgressState): void {
    this.#state = state;
    if (this.#io.isErrTerminal) this.#draw();
  }

  /** Takes the line away. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#io.isErrTerminal) this.#io.redraw("");
  }

  #draw(): void {
    const { status, lastError } = this.#state;
    const elapsedSeconds = Math.floor((this.#io.nowMs() - this.#startMs) / 1000);
    const trouble = lastError === null ? "" : `, last error: ${lastError}`;
    const line = `Waiting for ${this.#subject}: ${elapsedSeconds} s, ${status}${trouble}`;
    // A line that wraps, or one with a line break in it, could not be written over.
    const fitting = line.replace(/\s+/g, " ").slice(0, Math.max(20, this.#io.errColumns - 1));
    this.#io.redraw(fitting);
  }
}
