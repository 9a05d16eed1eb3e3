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
import { WANT_READ } from "../io-result.ts";
import { chunk, CHUNK_BYTES } from "./chunk.ts";
import type { Reactor } from "./reactor.ts";
import { SocketStream } from "./socket-stream.ts";
import { dial } from "./sockets.ts";

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
  readonly #reactor: Reactor;
  readonly #path: string;
  readonly #events: HostLinkEvents;
  #socket: SocketStream | null = null;
  #isGreeted = false;
  /** The parts of a line whose end has not arrived. */
  #partial: Uint8Array[] = [];
  #partialBytes = 0;

  /** @param path the host's unix socket for gateways. */
  constructor(reactor: Reactor, path: string, events: HostLinkEvents) {
    this.#reactor = reactor;
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

  /** Without a link the message is lost; both sides exchange their state anew at the start of the next link. */
  send(message: GatewayMessage): void {
    this.#write(`${JSON.stringify(message)}\n`);
  }

  #connect(): void {
    const dialled = dial(this.#path);
    if (typeof dialled === "string") return this.#connectLater(RETRY_MS);
    const socket = new SocketStream(this.#reactor, dialled.fd);
    this.#socket = socket;
    this.#isGreeted = false;
    this.#forgetPartial();
    const end = () => this.#ended(socket, RETRY_MS);
    socket.consume({ readable: () => this.#read(socket), drained: () => {}, broken: end });
    this.#write(helloLine(GATEWAY_LINK_VERSION));
  }

  #write(text: string): void {
    this.#socket?.write(new TextEncoder().encode(text));
  }

  #connectLater(afterMs: number): void {
    this.#reactor.timers.after(afterMs, () => this.#connect());
  }

  #ended(socket: SocketStream, retryAfterMs: number): void {
    if (this.#socket !== socket) return;
    this.#socket = null;
    socket.close();
    this.#connectLater(retryAfterMs);
  }

  #read(socket: SocketStream): void {
    const length = socket.receive(CHUNK_BYTES);
    if (length === WANT_READ) return;
    if (length <= 0) return this.#ended(socket, RETRY_MS);
    // All lines are copied first: a receiver may overwrite the chunk. A line that fails leaves the others unaffected.
    for (const line of this.#linesIn(length)) {
      if (this.#socket !== socket) return;
      if (!this.#isGreeted) {
        this.#greeted(socket, line);
        continue;
      }
      this.#reactor.attempt(() =>
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

  #linesIn(length: number): string[] {
    const lines: string[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_END, start);
      if (end < 0 || end >= length) break;
      this.#keep(start, end);
      if (this.#partialBytes > MAX_LINE_BYTES) this.#events.skipped();
      else lines.push(Buffer.concat(this.#partial).toString("utf8"));
      this.#forgetPartial();
      start = end + 1;
    }
    if (start < length) this.#keep(start, length);
    return lines;
  }

  /** Of a line that is too long only its length is kept. */
  #keep(start: number, end: number): void {
    this.#partialBytes += end - start;
    if (this.#partialBytes > MAX_LINE_BYTES) this.#partial = [];
    else this.#partial.push(chunk.slice(start, end));
  }

  #forgetPartial(): void {
    this.#partial = [];
    this.#partialBytes = 0;
  }
}
