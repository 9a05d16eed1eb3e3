// One connection of a gateway: whole lines in and out, however the kernel cuts them.
import type { Socket } from "bun";
import { checkHello, GATEWAY_LINK_VERSION, helloLine } from "../../contracts/versions.ts";
import type { HostMessage } from "../../contracts/gateway-link.ts";

/** Far longer than any line of a gateway. A longer line means a broken gateway. */
const MAX_LINE_BYTES = 64 * 1024;

/** The size of the pieces, roughly, in which lines are passed to the kernel. */
const BATCH_BYTES = 256 * 1024;

/** More lines than there are instances and questions about them: a gateway that lets so many wait is stuck. */
const MAX_WAITING_LINES = 200_000;

const NEWLINE = 0x0a;

/** Callbacks for a gateway's messages. A callback may throw; the owner of the socket then ends the connection. */
interface ConnectionEvents {
  /** The gateway speaks the version of this host. */
  greeted(): void;
  /** @param line any line after the greeting. */
  said(line: string): void;
}

/** A line that the kernel has not taken. */
interface WaitingLine {
  text: string;
  /** The question of the gateway that it answers. */
  question?: number | undefined;
}

export class GatewayConnection {
  readonly #socket: Socket<unknown>;
  readonly #events: ConnectionEvents;
  #isGreeted = false;
  #unread: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  /** The bytes that the kernel takes next. */
  #unsent: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  /** The lines after them. Only the latest entry of an instance waits, so a slow gateway costs bounded memory. */
  readonly #waiting = new Map<string, WaitingLine>();
  #sent = 0;

  constructor(socket: Socket<unknown>, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#unsent = Buffer.from(helloLine(GATEWAY_LINK_VERSION));
    this.flush();
  }

  /** Whether the gateway has greeted in this version. */
  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  send(message: Exclude<HostMessage, { type: "entry" }>): void {
    this.#enqueue(`message ${this.#sent++}`, { text: JSON.stringify(message) });
  }

  /**
   * @param text the entry of an instance, as JSON.
   * @param question the question of the gateway that it answers.
   */
  sendEntry(id: string, text: string, question?: number): void {
    const key = `entry ${id}`;
    const answered = question ?? this.#waiting.get(key)?.question;
    // The entry moves to the end, behind messages that precede its latest state.
    this.#waiting.delete(key);
    const line = `{"type":"entry","entry":${text}${answered === undefined ? "" : `,"question":${answered}`}}`;
    this.#enqueue(key, { text: line, question: answered });
  }

  /** Sends as much as the kernel takes. */
  flush(): void {
    for (;;) {
      if (this.#unsent.length === 0) this.#unsent = this.#nextBatch();
      if (this.#unsent.length === 0) return;
      const taken = this.#socket.write(this.#unsent);
      if (taken > 0) this.#unsent = this.#unsent.subarray(taken);
      if (this.#unsent.length > 0) return;
    }
  }

  /**
   * Reads bytes of the gateway.
   * @throws VersionMismatch when the gateway speaks another version, an error for a bad line or from a callback.
   */
  take(bytes: Buffer): void {
    let rest = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = rest.toString("utf8", 0, end);
      rest = rest.subarray(end + 1);
      this.#take(line);
    }
    if (rest.length > MAX_LINE_BYTES) throw new Error("a line of the gateway is too long");
    // The runtime uses the received buffer again, so the rest is copied.
    this.#unread = Buffer.from(rest);
  }

  end(): void {
    this.#socket.terminate();
  }

  #take(line: string): void {
    if (this.#isGreeted) return this.#events.said(line);
    checkHello(line, GATEWAY_LINK_VERSION, "The gateway");
    this.#isGreeted = true;
    this.#events.greeted();
  }

  #enqueue(key: string, line: WaitingLine): void {
    this.#waiting.set(key, line);
    this.flush();
    if (this.#waiting.size > MAX_WAITING_LINES) this.end();
  }

  #nextBatch(): Buffer {
    let batch = "";
    for (const [key, { text }] of this.#waiting) {
      batch += `${text}\n`;
      this.#waiting.delete(key);
      if (batch.length >= BATCH_BYTES) break;
    }
    return Buffer.from(batch);
  }
}
