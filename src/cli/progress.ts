// A line about something that the program waits for. A terminal shows it change, a log file gets it once.
import { absenceText } from "./absence.ts";
import type { Io } from "./io.ts";

const TICK_MS = 1000;

/** The contents of the line besides the time. */
export interface ProgressState {
  status: string;
  lastError: string | null;
}

/** A line of progress; it must be ended, or its clock goes on. */
export class Progress {
  readonly #io: Io;
  readonly #subject: string;
  readonly #startMs: number;
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #state: ProgressState;

  /** @param subject the awaited change, such as `sessions to be available`. */
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

  /** Shows a new state. */
  update(state: ProgressState): void {
    this.#state = state;
    if (this.#io.isErrTerminal) this.#draw();
  }

  /** Shows that Pilvi is away. */
  away(error: Error): void {
    if (!this.#io.isErrTerminal) return this.#io.err(absenceText(error));
    this.update({ ...this.#state, lastError: error.message });
  }

  /** Removes the line. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#io.isErrTerminal) this.#io.redraw("");
  }

  #draw(): void {
    const { status, lastError } = this.#state;
    const elapsedSeconds = Math.floor((this.#io.nowMs() - this.#startMs) / 1000);
    const trouble = lastError === null ? "" : `, last error: ${lastError}`;
    const line = `Waiting for ${this.#subject}: ${elapsedSeconds} s, ${status}${trouble}`;
    // A line that wraps, or that has a line break in it, could not be overwritten.
    const fitting = line.replace(/\s+/g, " ").slice(0, Math.max(20, this.#io.errColumns - 1));
    this.#io.redraw(fitting);
  }
}
