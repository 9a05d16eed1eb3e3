// The gateway's end of its link with the host: one JSON object a line, connected again whenever it breaks.
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

/** A host that was killed is back within some hundred milliseconds. */
const RETRY_MS = 20;
const LINE_END = 10;
/** An entry is a quarter of it at most, and the ids of as many instances as there are ports have room in it. */
const MAX_LINE_BYTES = 4 * 1024 ** 2;

/** What is done when the host says something. */
export interface HostLinkEvents {
  /** A host is there that speaks this version, be it another one or the same again. */
  connected(): void;
  /** A host speaks another version; it is looked for again later. */
  mismatched(error: VersionMismatch): void;
  received(message: HostMessage): void;
  /** A line was longer than any that is kept; the ones after it are taken as ever. */
  skipped(): void;
}

export class HostLink {
  readonly #reactor: Reactor;
  readonly #path: string;
  readonly #events: HostLinkEvents;
  #socket: SocketStream | null = null;
  #isGreeted = false;
  /** What has come of a line whose end has not. */
  #partial: Uint8Array[] = [];
  #partialBytes = 0;

  /** @param path the host's unix socket for gateways. */
  constructor(reactor: Reactor, path: string, events: HostLinkEvents) {
    this.#reactor = reactor;
    this.#path = path;
    this.#events = events;
  }

  /** Looks for a host, and again whenever the link to it breaks. */
  start(): void {
    this.#connect();
  }

  /** Ends the link that there is, and looks for a host anew. */
  restart(): void {
    if (this.#socket !== null) this.#ended(this.#socket, RETRY_MS);
  }

  /** Without a link it is lost: the first message of the next one tells all there is to know. */
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
    // All lines first: whoever is told of one may use the chunk. One that cannot be heeded leaves the others as they are.
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

  /** Of a line that is too long nothing is kept but how long it is. */
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
