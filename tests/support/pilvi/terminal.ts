// A program at a terminal, as a person sees it.
import { until } from "./pilvi.ts";
import { PROGRAMS_HOME } from "../clients/programs.ts";

/** Flags of a terminal (termios(3)): it edits lines, shows keys, and changes output. */
const [ICANON, ECHO, OPOST] = [2, 8, 1];

export class TerminalProgram {
  readonly #process: Bun.Subprocess;
  #shown = "";

  /** @param env its whole environment, but the PATH. */
  constructor(command: string[], env: Record<string, string> = {}, cwd = ".") {
    const decoder = new TextDecoder();
    this.#process = Bun.spawn(command, {
      env: { PATH: `${process.env.PATH}:${PROGRAMS_HOME}/bin`, LC_ALL: "C.UTF-8", TERM: "dumb", ...env },
      cwd,
      terminal: {
        cols: 200,
        data: (_, bytes) => void (this.#shown += decoder.decode(bytes, { stream: true })),
      },
    });
  }

  /** Types a line. */
  type(line: string): void {
    this.#process.terminal?.write(`${line}\n`);
  }

  /** Presses keys. */
  press(keys: string): void {
    this.#process.terminal?.write(keys);
  }

  /** Presses Ctrl and C. */
  interrupt(): void {
    this.press("\u0003");
  }

  /** Changes the size of its window. */
  resize(columns: number, rows: number): void {
    this.#process.terminal?.resize(columns, rows);
  }

  /** How the terminal treats keys and output (termios(3)). */
  get modes(): { input: number; output: number; local: number } {
    const { inputFlags = 0, outputFlags = 0, localFlags = 0 } = this.#process.terminal ?? {};
    return { input: inputFlags, output: outputFlags, local: localFlags };
  }

  /** Whether the terminal leaves all keys and all output as they are. */
  get isRaw(): boolean {
    const { output, local } = this.modes;
    return (local & (ICANON | ECHO)) === 0 && (output & OPOST) === 0;
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Its exit code, once it has ended. */
  get exited(): Promise<number> {
    return this.#process.exited;
  }

  /** Waits until it has shown a text, and forgets the output up to there. @returns the output before it. */
  async shows(text: string): Promise<string> {
    try {
      await until(`it shows ${text}`, () => this.#shown.includes(text));
    } catch (error) {
      throw new Error(`it shows: ${this.#shown}`, { cause: error });
    }
    const at = this.#shown.indexOf(text);
    const before = this.#shown.slice(0, at);
    this.#shown = this.#shown.slice(at + text.length);
    return before;
  }

  async close(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.exited;
    this.#process.terminal?.close();
  }
}
