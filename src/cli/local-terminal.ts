// The terminal of this process, handed over to a program elsewhere: each key goes there, and its output is shown as it is.
import { leaveOutputAsItIs } from "./raw-output.ts";

/** Signals that end this process, and would leave the terminal as it is. */
const ENDS = ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"] as const;

/**
 * What a program that was cut off may have left on: the other screen, reports of the mouse and of pastes, keys of
 * applications, a hidden cursor, colours.
 */
const CALM =
  "\u001B[?1047l\u001B[?1000l\u001B[?1002l\u001B[?1003l\u001B[?1006l\u001B[?2004l\u001B[?1l\u001B>\u001B[?25h\u001B[0m\r\n";

/** The size of the window. */
export interface WindowSize {
  columns: number;
  rows: number;
}

/** What happens at the terminal. */
export interface TerminalListener {
  typed(bytes: Uint8Array): void;
  resized(size: WindowSize): void;
  /** The input has ended, or this process is about to, by a signal. */
  ended(signal: NodeJS.Signals | null): void;
}

/** A terminal that is handed over. */
export interface LocalTerminal {
  /** Resolves when the terminal has taken the bytes. */
  show(bytes: Uint8Array): Promise<void>;
  /** Whether keys are read; others wait in the kernel. */
  read(isReading: boolean): void;
  /** Gives the terminal back as it was; more than once does no harm. @param isCutOff whether its program was. */
  close(isCutOff: boolean): void;
}

/** Hands over the terminal of stdin and stdout. Whatever ends this process but SIGKILL gives it back. */
export function openLocalTerminal(listener: TerminalListener): LocalTerminal {
  const { stdin, stdout } = process;
  const typed = (bytes: Buffer) => listener.typed(bytes);
  const inputEnded = () => listener.ended(null);
  const resized = () => listener.resized(windowSize());
  const signalled = (signal: NodeJS.Signals) => listener.ended(signal);
  let isOpen = true;
  const close = (isCutOff: boolean) => {
    if (!isOpen) return;
    isOpen = false;
    stdin.off("data", typed).off("end", inputEnded).off("error", inputEnded).pause();
    stdin.setRawMode(false);
    process.off("SIGWINCH", resized);
    process.off("exit", leave);
    for (const signal of ENDS) process.off(signal, signalled);
    if (isCutOff) stdout.write(CALM);
  };
  const leave = () => close(true);
  process.on("exit", leave);
  process.on("SIGWINCH", resized);
  for (const signal of ENDS) process.on(signal, signalled);
  stdin.setRawMode(true);
  leaveOutputAsItIs(stdin.fd);
  stdin.on("data", typed).on("end", inputEnded).on("error", inputEnded).resume();
  return {
    show: (bytes) => new Promise((resolve) => stdout.write(bytes, () => resolve())),
    read: (isReading) => void (isReading ? stdin.resume() : stdin.pause()),
    close,
  };
}

/** The size of the terminal of stdout. A terminal that does not know its size says 0. */
export function windowSize(): WindowSize {
  const [columns, rows] = process.stdout.getWindowSize();
  return { columns: bounded(columns || 80), rows: bounded(rows || 24) };
}

function bounded(length: number): number {
  return Math.min(length, 1_000);
}
