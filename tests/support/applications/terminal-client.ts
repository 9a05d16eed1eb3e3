// A client of the terminal of a command, as the control plane is of the host's.
import {
  ACKNOWLEDGED_AT,
  hostFrameSchema,
  type TerminalEnd,
  type TerminalSize,
} from "../../../src/contracts/terminal.ts";
import { readJsonAs } from "../../../src/contracts/read.ts";
import type { Driver, OpenTerminal } from "../../../src/drivers/driver.ts";
import { until } from "../pilvi/pilvi.ts";

export class TerminalClient {
  readonly id: string;
  /** Whether output is acknowledged as it comes. */
  isReading = true;
  /** All bytes of output so far. */
  received = 0;
  #unread = 0;
  #shown = "";
  #terminal: OpenTerminal | null = null;
  readonly #decoder = new TextDecoder();
  readonly #ended = Promise.withResolvers<TerminalEnd>();
  readonly #closed = Promise.withResolvers<void>();

  private constructor(id: string) {
    this.id = id;
    this.#ended.promise.catch(() => undefined);
  }

  /** @throws PublicError when the driver refuses. */
  static async open(
    driver: Pick<Driver, "openTerminal">,
    id: string,
    size: TerminalSize = { columns: 80, rows: 24 },
  ): Promise<TerminalClient> {
    const client = new TerminalClient(id);
    client.#terminal = await driver.openTerminal(id, size, {
      received: (frame) => client.#receive(frame),
      closed: () => client.#close(),
    });
    return client;
  }

  /** The last frame. @throws Error when the connection is lost before it. */
  get ended(): Promise<TerminalEnd> {
    return this.#ended.promise;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  type(text: string): void {
    this.#terminal?.send(new TextEncoder().encode(text));
  }

  send(frame: string): void {
    this.#terminal?.send(frame);
  }

  resize(columns: number, rows: number): void {
    this.send(JSON.stringify({ columns, rows }));
  }

  /** Acknowledges all that has come, and all that comes. */
  read(): void {
    this.isReading = true;
    if (this.#unread > 0) this.send(JSON.stringify({ acknowledged: this.#unread }));
    this.#unread = 0;
  }

  /** Waits until a text was shown, and forgets the output up to there. */
  async shows(text: string): Promise<void> {
    await until(`it shows ${text}`, () => this.#shown.includes(text)).catch((error: unknown) => {
      throw new Error(`it shows: ${JSON.stringify(this.#shown.slice(-2_000))}`, { cause: error });
    });
    this.#shown = this.#shown.slice(this.#shown.indexOf(text) + text.length);
  }

  close(): void {
    this.#terminal?.close();
  }

  #receive(frame: string | Uint8Array): void {
    if (typeof frame === "string") {
      const said = readJsonAs(hostFrameSchema, frame, "The frame");
      if ("exit_code" in said) this.#ended.resolve(said);
      return;
    }
    this.received += frame.length;
    this.#shown = (this.#shown + this.#decoder.decode(frame, { stream: true })).slice(-1_000_000);
    this.#unread += frame.length;
    if (this.isReading && this.#unread >= ACKNOWLEDGED_AT) this.read();
  }

  #close(): void {
    this.#closed.resolve();
    this.#ended.reject(new Error("the connection was lost"));
  }
}
