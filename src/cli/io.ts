// The inputs and outputs of commands, so that tests can stand in for a terminal.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  openLocalTerminal,
  windowSize,
  type LocalTerminal,
  type TerminalListener,
  type WindowSize,
} from "./local-terminal.ts";
import { printable } from "./printable.ts";
import { runInPlace } from "./run.ts";
import { utf8Text } from "./utf8.ts";

const CLEAR_LINE = "\r\u001B[K";

/** The environment of a command. */
export interface Io {
  /** Writes text for people, or JSON, to stdout. Here and below, control characters for a terminal are escaped. */
  out(text: string): void;
  /** Writes data for a program to stdout, which reaches a file or a pipe as it is. */
  data(text: string): void;
  /** Writes a message for people to stderr. */
  err(text: string): void;
  /** Overwrites the present line of stderr; an empty text removes it. */
  redraw(line: string): void;
  /** The folder that the command was started in. */
  folder: string;
  /** Whether a person can answer a question. */
  isInputTerminal: boolean;
  /** Whether a line on stderr can be overwritten. */
  isErrTerminal: boolean;
  errColumns: number;
  /** The width of the terminal that shows stdout; infinite for a file or a pipe. */
  outColumns: number;
  /** Asks on stderr; the answer is null when the input ends. */
  ask(question: string): Promise<string | null>;
  /** Asks at a terminal, which does not show the answer; it is empty when the input ends. */
  askHidden(question: string): Promise<string>;
  /** Reads the input to its end. @throws CommandError when it is no text. */
  readInput(): Promise<string>;
  /** Calls the listener on Ctrl-C in place of ending the program. Returns a function that undoes that. */
  onInterrupt(listener: () => void): () => void;
  /** Milliseconds of a clock that only goes forward. */
  nowMs(): number;
  pause(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Hands the terminal over to a program with these variables set or, where undefined, unset; resolves with its exit
   * code.
   */
  run(argv: string[], env: Record<string, string | undefined>): Promise<number>;
  /** The size of the terminal of stdout. */
  windowSize(): WindowSize;
  /** Hands the terminal over to a program elsewhere; null unless both input and stdout are a terminal. */
  openTerminal: ((listener: TerminalListener) => LocalTerminal) | null;
  /** Makes this the exit code of a command that does not fail by itself. */
  exitWith(code: number): void;
}

/** The terminal or the pipes that this process was started with. */
export function processIo(): Io {
  return {
    out: (text) => void process.stdout.write(printable(text)),
    data: (text) => void process.stdout.write(process.stdout.isTTY ? printableLines(text) : text),
    err: (text) => void process.stderr.write(printable(text)),
    redraw: (line) => void process.stderr.write(CLEAR_LINE + printable(line)),
    folder: process.cwd(),
    isInputTerminal: process.stdin.isTTY,
    isErrTerminal: process.stderr.isTTY,
    // A terminal that does not know its width says 0.
    errColumns: process.stderr.columns || 80,
    outColumns: process.stdout.isTTY ? process.stdout.columns || 80 : Infinity,
    ask,
    askHidden,
    readInput: async () => utf8Text(await Bun.stdin.bytes(), "The input"),
    onInterrupt: (listener) => {
      process.on("SIGINT", listener);
      return () => void process.off("SIGINT", listener);
    },
    nowMs: () => performance.now(),
    pause: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
    run: runInPlace,
    windowSize,
    openTerminal: process.stdin.isTTY && process.stdout.isTTY ? openLocalTerminal : null,
    exitWith: (code) => void (process.exitCode = code),
  };
}

/** The text for a terminal, with the ends of lines of CSV as those of a terminal. */
function printableLines(text: string): string {
  return printable(text.replaceAll("\r\n", "\n"));
}

async function ask(question: string): Promise<string | null> {
  // Without `terminal` the line discipline of the terminal stays in force, so that Ctrl-C ends the program as usual.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const end = new Promise<null>((resolve) => {
    lines.once("close", () => resolve(null));
  });
  try {
    return await Promise.race([lines.question(question), end]);
  } finally {
    lines.close();
  }
}

async function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal` this program reads each key itself, so that the terminal shows none.
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  lines.once("SIGINT", () => {
    lines.close();
    process.stderr.write("\n");
    process.kill(process.pid, "SIGINT");
  });
  const end = new Promise<string>((resolve) => {
    lines.once("close", () => resolve(""));
  });
  try {
    return await Promise.race([lines.question(""), end]);
  } finally {
    lines.close();
    process.stderr.write("\n");
  }
}
