// A connection to a cache or its gateway that sends bytes that no library would.
import type { Socket } from "bun";

const PATIENCE_MS = 60_000;

export class RawRedis {
  #socket: Socket<RawRedis> | null = null;
  #received = "";
  #unsent: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #wake: () => void = () => {};

  /** @param where a port of this machine or the path of a unix socket. */
  static async open(where: number | string): Promise<RawRedis> {
    const raw = new RawRedis();
    const socket = {
      binaryType: "buffer" as const,
      data: (_: Socket<RawRedis>, bytes: Buffer) => raw.#receive(bytes),
      drain: () => raw.#flush(),
      end: () => raw.#end(),
      close: () => raw.#end(),
      error: () => raw.#end(),
    };
    raw.#socket =
      typeof where === "string"
        ? await Bun.connect<RawRedis>({ unix: where, socket, data: raw })
        : await Bun.connect<RawRedis>({ hostname: "127.0.0.1", port: where, socket, data: raw });
    return raw;
  }

  /** The other side has closed. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** @param text one character for each byte. */
  write(text: string): void {
    this.#unsent = Buffer.concat([this.#unsent, Buffer.from(text, "latin1")]);
    this.#flush();
  }

  /** Sends bytes and returns the answer up to an ending text. @throws when the other side closes before. */
  async ask(text: string, end: string): Promise<string> {
    this.write(text);
    await this.#until(() => this.#received.endsWith(end));
    if (!this.#received.endsWith(end)) throw new Error(`closed after ${JSON.stringify(this.#received)}`);
    return this.#take();
  }

  /** Sends bytes and returns all bytes until the other side closes. */
  async askAll(text: string): Promise<string> {
    this.write(text);
    await this.#until(() => false);
    return this.#take();
  }

  close(): void {
    this.#socket?.end();
    this.#end();
  }

  #take(): string {
    const received = this.#received;
    this.#received = "";
    return received;
  }

  #receive(bytes: Buffer): void {
    this.#received += bytes.toString("latin1");
    this.#wake();
  }

  #flush(): void {
    const sent = this.#unsent.length === 0 ? 0 : (this.#socket?.write(this.#unsent) ?? 0);
    this.#unsent = this.#unsent.subarray(Math.max(0, sent));
  }

  #end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  async #until(holds: () => boolean): Promise<void> {
    const giveUp = setTimeout(() => {
      this.#received += " (timed out)";
      this.close();
    }, PATIENCE_MS);
    while (!holds() && !this.#isEnded) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    clearTimeout(giveUp);
  }
}
