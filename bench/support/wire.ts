// A client's end of a bare connection: the time of a client library would be measured on both sides of a comparison and
// make them look more alike than they are.
import type { Socket } from "bun";

/** The address of a listener. */
export type Place = { hostname: string; port: number } | { unix: string };

/** Thrown when the server refuses the login or the request. */
export class Refusal extends Error {
  /** The protocol's own code, such as `53300` of Postgres. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export class Wire {
  #socket: Socket | undefined;
  #unread: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #notify: () => void = () => undefined;

  private constructor() {
    // Only `open` makes a wire.
  }

  /** @throws when no server listens there. */
  static async open(place: Place): Promise<Wire> {
    const wire = new Wire();
    const socket = {
      data: (_: Socket, chunk: Buffer) => {
        wire.#unread = Buffer.concat([wire.#unread, chunk]);
        wire.#notify();
      },
      close: () => wire.#end(),
      error: () => wire.#end(),
    };
    const opening =
      "unix" in place
        ? Bun.connect({ unix: place.unix, socket })
        : Bun.connect({ hostname: place.hostname, port: place.port, socket });
    wire.#socket = await opening;
    return wire;
  }

  /** Exactly this many bytes. @throws when the connection ends before. */
  async read(length: number): Promise<Buffer> {
    while (this.#unread.length < length) {
      if (this.#hasEnded) throw new Error("the connection has ended");
      await this.#change();
    }
    const bytes = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(length);
    return bytes;
  }

  /** All bytes through the next occurrence of the text. @throws when the connection ends before. */
  async readThrough(text: string): Promise<Buffer> {
    for (;;) {
      const start = this.#unread.indexOf(text);
      if (start >= 0) return await this.read(start + text.length);
      if (this.#hasEnded) throw new Error("the connection has ended");
      await this.#change();
    }
  }

  /** All writes of these clients are so short that the kernel takes them at once. */
  write(bytes: Buffer | string): void {
    this.#socket?.write(bytes);
  }

  close(): void {
    this.#socket?.end();
    this.#end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#notify();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#notify = resolve;
    });
  }
}
