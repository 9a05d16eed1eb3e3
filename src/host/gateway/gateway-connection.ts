// One connection of a gateway: whole lines in, whole lines out, however the kernel cuts them.
import type { Socket } from "bun";
import { checkHello, GATEWAY_LINK_VERSION, helloLine } from "../../contracts/versions.ts";
import type { HostMessage } from "../../gateway/link.ts";

/** A line of the gateway's is far shorter; whoever sends more has lost its way. */
const MAX_LINE_BYTES = 64 * 1024;

/** Lines are handed to the kernel in pieces of about this size. */
const BATCH_BYTES = 256 * 1024;

/** More than there are instances and questions about them; a gateway that reads none of it is stuck. */
const MAX_WAITING_LINES = 200_000;

const NEWLINE = 0x0a;

/** What is called when a gateway says something; it may throw, and the connection is then ended by whoever gave the bytes. */
export interface ConnectionEvents {
  /** It speaks the version of this host. */
  greeted(): void;
  /** @param line any line after the greeting. */
  said(line: string): void;
}

export class GatewayConnection {
  readonly #socket: Socket<unknown>;
  readonly #events: ConnectionEvents;
  #isGreeted = false;
  #unread: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  /** What the kernel is to take next. */
  #unsent: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  /** What follows it. Of an instance only the latest entry waits, so that a slow gateway costs no more than there is to know. */
  readonly #waiting = new Map<string, { text: string; isAnswer: boolean }>();
  #sent = 0;

  constructor(socket: Socket<unknown>, events: ConnectionEvents) {
    this.#socket = socket;
    this.#events = events;
    this.#unsent = Buffer.from(helloLine(GATEWAY_LINK_VERSION));
    this.flush();
  }

  /** Whether the gateway has said that it speaks this version. */
  get isGreeted(): boolean {
    return this.#isGreeted;
  }

  send(message: Exclude<HostMessage, { type: "entry" }>): void {
    this.#enqueue(`message ${this.#sent++}`, { text: JSON.stringify(message), isAnswer: false });
  }

  /** @param text the entry of an instance, as JSON. @param isAnswer whether the gateway waits for it. */
  sendEntry(id: string, text: string, isAnswer = false): void {
    const key = `entry ${id}`;
    const isAwaited = isAnswer || this.#waiting.get(key)?.isAnswer === true;
    // It moves to the end: what was said in between was said before it.
    this.#waiting.delete(key);
    const line = `{"type":"entry","entry":${text}${isAwaited ? ',"isAnswer":true' : ""}}`;
    this.#enqueue(key, { text: line, isAnswer: isAwaited });
  }

  /** Sends what the kernel takes. */
  flush(): void {
    for (;;) {
      if (this.#unsent.length === 0) this.#unsent = this.#nextBatch();
      if (this.#unsent.length === 0) return;
      const taken = this.#socket.write(this.#unsent);
      if (taken > 0) this.#unsent = this.#unsent.subarray(taken);
      if (this.#unsent.length > 0) return;
    }
  }

  /** @throws VersionMismatch when the gateway speaks another version, an error when the bytes are no lines or what is called throws. */
  take(bytes: Buffer): void {
    let rest = this.#unread.length === 0 ? bytes : Buffer.concat([this.#unread, bytes]);
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = rest.toString("utf8", 0, end);
      rest = rest.subarray(end + 1);
      this.#take(line);
    }
    if (rest.length > MAX_LINE_BYTES) throw new Error("a line of the gateway is too long");
    // The bytes that came are the runtime's, to be used again.
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

  #enqueue(key: string, line: { text: string; isAnswer: boolean }): void {
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
