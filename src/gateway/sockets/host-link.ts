// The gateway's end of its link with the host: one JSON object a line. A broken link is connected again.
import { hostMessageSchema, type GatewayMessage, type HostMessage } from "../../contracts/gateway-link.ts";
import { readJsonAs } from "../../contracts/read.ts";
import {
  checkHello,
  GATEWAY_LINK_VERSION,
  helloLine,
  MISMATCH_RETRY_MS,
  VersionMismatch,
} from "../../contracts/versions.ts";
import { dial } from "./dial.ts";
import type { SocketPool } from "./socket-pool.ts";
import type { SocketStream } from "./socket-stream.ts";

/** A killed host is back within some hundred milliseconds. */
const RETRY_MS = 20;
const LINE_END = 10;
/** A route takes at most a quarter of it; the ids of as many instances as there are ports fit in. */
const MAX_LINE_BYTES = 4 * 1024 ** 2;

/** The events of the link. */
export interface HostLinkEvents {
  /** A host of this version is connected: the former host again, or a new host. */
  connected(): void;
  /** The host has another version; the link tries again later. */
  mismatched(error: VersionMismatch): void;
  received(message: HostMessage): void;
  /** A line was too long and was dropped; the lines after it are not affected. */
  skipped(): void;
}

export class HostLink {
  readonly #pool: SocketPool;
  readonly #path: string;
  readonly #events: HostLinkEvents;
  #socket: SocketStream | null = null;
  #isGreeted = false;
  /** The parts of a line whose end has not arrived. */
  #partial: Uint8Array[] = [];
  #partialBytes = 0;

  /** @param path the host's unix socket for gateways. */
  constructor(pool: SocketPool, path: string, events: HostLinkEvents) {
    this.#pool = pool;
    this.#path = path;
    this.#events = events;
  }

  /** Connects to the host, and again whenever the link breaks. */
  start(): void {
    this.#connect();
  }

  /** Ends the present link and connects anew. */
  restart(retryAfterMs = RETRY_MS): void {
    if (this.#socket !== null) this.#ended(this.#socket, retryAfterMs);
  }

  /**
   * Without a link, or before the host's greeting, the message is lost; both sides exchange their state anew at the start
   * of the next link.
   */
  send(message: GatewayMessage): void {
    if (this.#isGreeted) this.#write(`${JSON.stringify(message)}\n`);
  }

  #connect(): void {
    const socket = dial(this.#pool, this.#path);
    if (typeof socket === "string") return this.#connectLater(RETRY_MS);
    this.#socket = socket;
    this.#isGreeted = false;
    this.#forgetPartial();
    const end = () => this.#ended(socket, RETRY_MS);
    socket.consume({
      received: (bytes) => this.#read(socket, bytes),
      ended: end,
      drained: () => {},
      broken: end,
    });
    this.#write(helloLine(GATEWAY_LINK_VERSION));
  }

  #write(text: string): void {
    this.#socket?.write(new TextEncoder().encode(text));
  }

  #connectLater(afterMs: number): void {
    this.#pool.timers.after(afterMs, () => this.#connect());
  }

  #ended(socket: SocketStream, retryAfterMs: number): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    socket.close();
    this.#connectLater(retryAfterMs);
  }

  #read(socket: SocketStream, bytes: Uint8Array): void {
    // A line that fails leaves the others unaffected.
    for (const line of this.#linesIn(bytes)) {
      if (this.#socket !== socket) return;
      if (!this.#isGreeted) {
        this.#greeted(socket, line);
        continue;
      }
      this.#pool.attempt(() =>
        this.#events.received(readJsonAs(hostMessageSchema, line, "A message of the host")),
      );
    }
  }

  #greeted(socket: SocketStream, line: string): void {
    try {
      checkHello(line, GATEWAY_LINK_VERSION, "The host");
      this.#isGreeted = true;
    } catch (error) {
      if (!(error instanceof VersionMismatch)) throw error;
      this.#ended(socket, MISMATCH_RETRY_MS);
      return this.#events.mismatched(error);
    }
    this.#events.connected();
  }

  #linesIn(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = bytes.indexOf(LINE_END, start);
      if (end < 0) break;
      this.#keep(bytes.subarray(start, end));
      if (this.#partialBytes > MAX_LINE_BYTES) this.#events.skipped();
      else lines.push(Buffer.concat(this.#partial).toString("utf8"));
      this.#forgetPartial();
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
    return lines;
  }

  /** Of a line that is too long only its length is kept. */
  #keep(part: Uint8Array): void {
    this.#partialBytes += part.length;
    if (this.#partialBytes > MAX_LINE_BYTES) this.#partial = [];
    else this.#partial.push(part);
  }

  #forgetPartial(): void {
    this.#partial = [];
    this.#partialBytes = 0;
  }
}
