// Runs `pilvi websockets listen` beside a test, which reads its output.
import { join } from "node:path";
import { TOKEN, until } from "../../support/pilvi/pilvi.ts";

const MAIN = join(import.meta.dir, "../../../src/main.ts");

const listeners: Listener[] = [];

/** Ends the listeners that a failed test has left. */
export function killListeners(): void {
  for (const { child } of listeners) child.kill("SIGKILL");
}

/** A running `listen`, with its output so far. */
export class Listener {
  readonly child;
  stdout = "";
  stderr = "";

  /** @param args of the command, the cluster first. */
  constructor(env: Record<string, string>, ...args: string[]) {
    this.child = Bun.spawn([process.execPath, MAIN, "websockets", "listen", ...args], {
      env: { ...env, PILVI_TOKEN: TOKEN },
      stdio: ["ignore", "pipe", "pipe"],
    });
    void this.#follow(this.child.stdout, (text) => (this.stdout += text));
    void this.#follow(this.child.stderr, (text) => (this.stderr += text));
    listeners.push(this);
  }

  /** Waits until it has subscribed so many times. */
  async subscribed(times = 1): Promise<this> {
    await until("it listens", () => this.stderr.split("Listening to ").length > times);
    return this;
  }

  /** Waits until it has printed a text as a result. */
  async printed(text: string): Promise<void> {
    await until(`${text} is printed`, () => this.stdout.includes(text));
  }

  /** Ends it as Ctrl-C does. */
  async interrupt(): Promise<number> {
    this.child.kill("SIGINT");
    return await this.child.exited;
  }

  /** Resolves when it ends by itself. */
  async ended(): Promise<{ code: number; stderr: string }> {
    const code = await this.child.exited;
    await until("all is read", () => this.stderr.endsWith("\n"));
    return { code, stderr: this.stderr };
  }

  async #follow(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
  }
}
