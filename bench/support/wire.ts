// A client's end of a connection, with nothing around it: what a client library adds would be measured on both sides of
// a comparison and make them look more alike than they are.
import type { Socket } from "bun";

/** Where somebody listens. */
export type Place = { hostname: string; port: number } | { unix: string };

/** Thrown when the other side answers that it does not let the client in or do what it asks. */
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
    // Only `open` makes one.
  }

  /** @throws when nobody listens there. */
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

  /** Exactly so many bytes. @throws when the connection ends before. */
  async read(length: number): Promise<Buffer> {
    while (this.#unread.length < length) {
      if (this.#hasEnded) throw new Error("the connection has ended");
      await this.#change();
    }
    const bytes = this.#unread.subarray(0, length);
    this.#unread = this.#unread.subarray(length);
    return bytes;
  }

  /** All up to the end of the next place where this stands. @throws when the connection ends before. */
  async readThrough(text: string): Promise<Buffer> {
    for (;;) {
      const start = this.#unread.indexOf(text);
      if (start >= 0) return await this.read(start + text.length);
      if (this.#hasEnded) throw new Error("the connection has ended");
      await this.#change();
    }
  }

  /** All that these clients write is so short that the kernel takes it at once. */
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
