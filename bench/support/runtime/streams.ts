// The gateway's streams on the runtime's own sockets, which its protocol handlers would use without a loop of our own.
import type { Socket, SocketHandler, TLSOptions } from "bun";
import { StreamEnded, type ClientStream, type Stream, type TlsInfo } from "../../../src/gateway/stream.ts";

/** Receives arriving bytes in place of reads. */
export interface Consumer {
  received(bytes: Uint8Array): void;
  /** All written bytes have been sent. */
  drained(): void;
  ended(): void;
}

/** The number of unread bytes from a peer, above which the peer is held back. */
const MOST_UNREAD_BYTES = 64 * 1024;

export class RuntimeStream implements Stream {
  protected socket: Socket<RuntimeStream> | null = null;
  #consumer: Consumer | null = null;
  #inbox: Uint8Array[] = [];
  #unread = 0;
  #unsent: Uint8Array[] = [];
  #isPaused = false;
  #isEnding = false;
  isEnded = false;
  #wake: (() => void) | null = null;
  readonly #onGone = new Set<() => void>();

  adopt(socket: Socket<RuntimeStream>): void {
    this.socket = socket;
  }

  get hasUnsent(): boolean {
    return this.#unsent.length > 0;
  }

  async read(length: number): Promise<Uint8Array> {
    await this.untilUnread(length);
    const all = this.#takeAll();
    if (all.length > length) this.#complete(all.subarray(length));
    return all.subarray(0, length);
  }

  async readSome(): Promise<Uint8Array> {
    await this.untilUnread(1);
    return this.#takeAll();
  }

  write(bytes: Uint8Array): void {
    this.send(bytes);
  }

  /** Sends as many bytes as the kernel takes now and keeps the rest, which must not change from here on. */
  send(bytes: Uint8Array): void {
    if (this.isEnded || this.socket === null) return;
    if (this.hasUnsent) return void this.#unsent.push(bytes);
    const sent = this.socket.write(bytes);
    if (sent < bytes.length) this.#unsent.push(bytes.subarray(Math.max(0, sent)));
  }

  end(): void {
    this.#isEnding = true;
    if (!this.hasUnsent) this.socket?.end();
  }

  pause(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.socket?.pause();
    else this.socket?.resume();
  }

  /** Passes the unread bytes, then all arriving bytes, to a consumer. */
  consume(consumer: Consumer): void {
    this.#consumer = consumer;
    const unread = this.#takeAll();
    if (unread.length > 0) consumer.received(unread);
    if (this.isEnded) consumer.ended();
    else if (!this.hasUnsent) this.pause(false);
  }

  onGone(action: () => void): () => void {
    this.#onGone.add(action);
    if (this.isEnded) action();
    return () => this.#onGone.delete(action);
  }

  received(bytes: Uint8Array): void {
    if (this.#consumer !== null) return this.#consumer.received(bytes);
    this.#inbox.push(bytes);
    this.#unread += bytes.length;
    if (this.#unread > MOST_UNREAD_BYTES) this.pause(true);
    this.#wake?.();
  }

  drained(): void {
    while (this.#unsent[0] !== undefined) {
      const first = this.#unsent[0];
      const sent = this.socket?.write(first) ?? -1;
      if (sent < first.length) {
        this.#unsent[0] = first.subarray(Math.max(0, sent));
        return;
      }
      this.#unsent.shift();
    }
    if (this.#isEnding) this.socket?.end();
    else this.#consumer?.drained();
  }

  gone(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.#wake?.();
    for (const action of this.#onGone) action();
    this.#consumer?.ended();
  }

  protected get unread(): number {
    return this.#unread;
  }

  protected get firstByte(): number {
    return this.#inbox[0]?.[0] ?? 0;
  }

  /** @throws StreamEnded */
  protected async untilUnread(length: number): Promise<void> {
    while (this.#unread < length) {
      if (this.isEnded || this.#isEnding) throw new StreamEnded();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.pause(false);
      });
      this.#wake = null;
    }
  }

  #takeAll(): Uint8Array {
    const [only, ...others] = this.#inbox;
    this.#inbox = [];
    this.#unread = 0;
    if (only === undefined) return new Uint8Array();
    return others.length === 0 ? only : Buffer.concat([only, ...others]);
  }

  #complete(bytes: Uint8Array): void {
    this.#inbox.unshift(bytes);
    this.#unread += bytes.length;
  }
}

/** The TLS settings of this end, as the server. */
export interface RuntimeTls {
  options: TLSOptions;
  endPointHash: Uint8Array;
}

export class RuntimeClient extends RuntimeStream implements ClientStream {
  readonly address: string;
  readonly acceptedAtMs = performance.now();
  readonly mustStartTls = false;
  tls: TlsInfo | null = null;
  readonly #tls: RuntimeTls | null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(address: string, tls: RuntimeTls | null) {
    super();
    this.address = address;
    this.#tls = tls;
    this.onGone(() => clearTimeout(this.#timer));
  }

  get canStartTls(): boolean {
    return this.#tls !== null;
  }

  async peekByte(): Promise<number> {
    await this.untilUnread(1);
    return this.firstByte;
  }

  hasUnread(): boolean {
    return this.unread > 0;
  }

  async startTls(alpn: readonly string[] = []): Promise<void> {
    if (this.socket === null || this.#tls === null) throw new Error("TLS cannot be begun on this connection");
    const { options, endPointHash } = this.#tls;
    const shaken = Promise.withResolvers<void>();
    const handlers: SocketHandler<RuntimeStream> = {
      ...streamHandlers,
      // The client shows no certificate, which is not a fault of its handshake.
      handshake: () => shaken.resolve(),
    };
    this.onGone(() => shaken.reject(new StreamEnded()));
    const tls = alpn.length === 0 ? options : { ...options, ALPNProtocols: alpn.join(",") };
    const upgrade = { data: this as RuntimeStream, tls, isServer: true, socket: handlers };
    const [raw, secured] = this.socket.upgradeTLS<RuntimeStream>(upgrade);
    // This socket goes on reporting the encrypted bytes, which nothing reads.
    raw.data = new DeafStream();
    this.socket.data = raw.data;
    this.socket = secured;
    await shaken.promise;
    this.tls = { serverName: null, alpn: alpn[0] ?? null, endPointHash };
  }

  identified(): void {
    // The peer has no limits.
  }

  setDeadline(ms: number | null): void {
    clearTimeout(this.#timer);
    if (ms !== null) this.#timer = setTimeout(() => this.end(), ms);
  }
}

class DeafStream extends RuntimeStream {
  override received(): void {
    // This stream keeps nothing.
  }
}

/** One set for all sockets, which the runtime handles best; `data` holds the stream of each. */
export const streamHandlers: SocketHandler<RuntimeStream> = {
  data: (socket, bytes) => socket.data.received(bytes),
  drain: (socket) => socket.data.drained(),
  end: (socket) => socket.data.gone(),
  close: (socket) => socket.data.gone(),
  error: (socket) => socket.data.gone(),
};
