// One connection of a gateway: whole lines in, whole lines out, however the kernel cuts them.
import type { Socket } from "bun";
import type { HostMessage } from "../gateway/link.ts";

/** A line of the gateway's is far shorter; whoever sends more has lost its way. */
const MAX_LINE_BYTES = 64 * 1024;

/** What the host has to say is far less, even of thousands of instances; a gateway that reads none of it is stuck. */
const MAX_UNSENT_BYTES = 64 * 1024 ** 2;

const NEWLINE = 0x0a;

export class GatewayConnection {
  readonly #socket: Socket<unknown>;
  readonly #onLine: (line: string) => void;
  #unread: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  #unsent: Buffer<ArrayBufferLike> = Buffer.alloc(0);

  /** @param onLine may throw; the connection is then ended by whoever gave the bytes. */
  constructor(socket: Socket<unknown>, onLine: (line: string) => void) {
    this.#socket = socket;
    this.#onLine = onLine;
  }

  send(message: HostMessage): void {
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    this.#unsent = this.#unsent.length === 0 ? line : Buffer.concat([this.#unsent, line]);
    this.flush();
    if (this.#unsent.length > MAX_UNSENT_BYTES) this.end();
  }

  /** Sends what the kernel takes. */
  flush(): void {
    if (this.#unsent.length === 0) return;
    const taken = this.#socket.write(this.#unsent);
    if (taken > 0) this.#unsent = this.#unsent.subarray(taken);
  }

  /** @throws when the bytes are no lines, or `onLine` throws. */
  take(bytes: Buffer): void {
    let rest = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = rest.toString("utf8", 0, end);
      rest = rest.subarray(end + 1);
      this.#onLine(line);
    }
    if (rest.length > MAX_LINE_BYTES) throw new Error("a line of the gateway is too long");
    // The bytes that came are the runtime's, to be used again.
    this.#unread = Buffer.from(rest);
  }

  end(): void {
    this.#socket.terminate();
  }
}
