// A PHP script that runs step by step, like a worker that keeps its connection.
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { phpProgram } from "./programs.ts";

/** Null where no PHP has the extensions for databases and caches. */
export const PHP = phpProgram();

/** Answers each line of JSON, an expression's source, with a line of JSON: its value, or its exception. */
const WORKER = String.raw`
set_error_handler(function ($level, $message) { throw new ErrorException($message); });
while (($line = fgets(STDIN)) !== false) {
  try {
    $shown = ["value" => eval(json_decode($line))];
  } catch (Throwable $error) {
    $shown = ["error" => $error->getMessage(), "code" => $error->getCode()];
  }
  echo json_encode($shown), "\n";
}`;

/** An exception that PHP threw. */
export class PhpError extends Error {
  readonly code: string | number;

  constructor(message: string, code: string | number) {
    super(message);
    this.code = code;
  }
}

export class PhpWorker {
  readonly #process = Bun.spawn([PHP ?? "php", "-r", WORKER], { stdio: ["pipe", "pipe", "inherit"] });
  readonly #asked: ((line: string) => void)[] = [];

  constructor() {
    const answers = createInterface(Readable.fromWeb(this.#process.stdout as never));
    answers.on("line", (line) => this.#asked.shift()?.(line));
  }

  /** Runs statements, one of which returns; variables stay for the next call. @throws PhpError. */
  async run(source: string): Promise<unknown> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#asked.push(resolve);
    void this.#process.stdin.write(`${JSON.stringify(source)}\n`);
    void this.#process.stdin.flush();
    const shown = JSON.parse(await promise) as { value?: unknown; error?: string; code?: string | number };
    if (shown.error !== undefined) throw new PhpError(shown.error, shown.code ?? 0);
    return shown.value;
  }

  async close(): Promise<void> {
    await this.#process.stdin.end();
    await this.#process.exited;
  }
}
