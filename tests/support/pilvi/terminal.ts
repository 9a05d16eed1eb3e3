// A program at a terminal, as a person sees it.
import { until } from "./pilvi.ts";
import { PROGRAMS_HOME } from "../clients/programs.ts";

export class TerminalProgram {
  readonly #process: Bun.Subprocess;
  #shown = "";

  /** @param env its whole environment, but the PATH. */
  constructor(command: string[], env: Record<string, string> = {}) {
    const decoder = new TextDecoder();
    this.#process = Bun.spawn(command, {
      env: { PATH: `${process.env.PATH}:${PROGRAMS_HOME}/bin`, LC_ALL: "C.UTF-8", TERM: "dumb", ...env },
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

  /** Presses Ctrl and C. */
  interrupt(): void {
    this.#process.terminal?.write("\u0003");
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
