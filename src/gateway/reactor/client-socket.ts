// A client's socket: begins in clear, may go on with TLS, and has a deadline until the client has logged in.
import { FAILED, WANT_READ, WANT_WRITE } from "../io-result.ts";
import { StreamEnded, type ClientStream, type TlsInfo } from "../stream.ts";
import { chunk, chunkAddress } from "./chunk.ts";
import type { Secured } from "./endpoint.ts";
import { EAGAIN, EPOLLIN, EPOLLOUT, errno, libc, MSG_PEEK } from "./libc.ts";
import type { Reactor } from "./reactor.ts";
import { SocketStream } from "./socket-stream.ts";
import type { Timer } from "./timers.ts";

/** A TLS session before the end of its handshake. */
export interface Handshaking extends Secured {
  handshake(): "done" | "want-read" | "want-write" | "failed";
  readonly info: TlsInfo;
}

/** Whether clients can or must use TLS. */
export interface TlsPolicy {
  /** Begins TLS, as the server, on a descriptor; null without a certificate. */
  session: ((fd: number, alpn: readonly string[]) => Handshaking) | null;
  mustStartTls: boolean;
}

const HANDSHAKE_WAITS = { "want-read": WANT_READ, "want-write": WANT_WRITE } as const;

export class ClientSocket extends SocketStream implements ClientStream {
  readonly address: string;
  readonly acceptedAtMs: number;
  /** Called when the client has logged in; throws when the client may not stay. */
  onIdentified: (() => void) | null = null;
  /** When the client or its engine sent bytes last, by the loop's clock, in milliseconds. */
  usedAtMs: number;
  readonly #policy: TlsPolicy;
  #tls: TlsInfo | null = null;
  #tlsAtMs: number | null = null;
  #deadline: Timer | null = null;

  constructor(reactor: Reactor, fd: number, address: string, policy: TlsPolicy) {
    super(reactor, fd);
    this.address = address;
    this.acceptedAtMs = reactor.timers.now();
    this.usedAtMs = this.acceptedAtMs;
    this.#policy = policy;
  }

  get tls(): TlsInfo | null {
    return this.#tls;
  }

  /** When the TLS handshake ended, in clear the first read; null before. By the loop's clock, in milliseconds. */
  get receivedAtMs(): number | null {
    return this.#tlsAtMs ?? this.readAtMs;
  }

  get canStartTls(): boolean {
    return this.#policy.session !== null;
  }

  get mustStartTls(): boolean {
    return this.#policy.mustStartTls;
  }

  async peekByte(): Promise<number> {
    if (this.secured !== null) throw new Error("only a connection in clear can be peeked at");
    let byte = 0;
    const count = await this.#retry(() => {
      const peeked = this.#peek();
      // Other sockets overwrite the chunk as soon as this function returns.
      byte = chunk[0] ?? 0;
      return peeked;
    });
    if (count === 1) return byte;
    this.end();
    throw new StreamEnded();
  }

  hasUnread(): boolean {
    if (this.isEnded) return false;
    return (this.secured !== null && this.secured.pending > 0) || this.#peek() > 0;
  }

  async startTls(alpn: readonly string[] = []): Promise<void> {
    const { session: begin } = this.#policy;
    if (begin === null || this.secured !== null) throw new Error("TLS cannot be begun on this connection");
    if (this.isEnded) throw new StreamEnded();
    const session = begin(this.fd, alpn);
    // From here on the session is freed with the socket.
    this.secured = session;
    const result = await this.#retry(() => {
      const state = session.handshake();
      if (state === "done") this.#tls = session.info;
      return state === "done" || state === "failed" ? state : HANDSHAKE_WAITS[state];
    });
    if (result === "failed") {
      // The TLS alert has been sent. The client may still be sending, so the socket lingers instead of being reset.
      this.end();
      throw new StreamEnded();
    }
    this.#tlsAtMs = this.nowMs;
  }

  identified(): void {
    this.usedAtMs = this.nowMs;
    this.onIdentified?.();
  }

  /** Ends the connection at once; `words` are sent only when no unsent bytes come before them. */
  dismiss(words: Uint8Array): void {
    if (!this.hasUnsent) this.write(words);
    this.close();
  }

  setDeadline(ms: number | null): void {
    this.#deadline?.cancel();
    this.#deadline = ms === null ? null : this.reactor.timers.after(ms, () => this.end());
  }

  override close(): void {
    this.setDeadline(null);
    super.close();
  }

  /**
   * Repeats a step whenever the socket is ready, while the step returns `WANT_READ` or `WANT_WRITE`.
   * @throws StreamEnded when the connection ends meanwhile.
   */
  async #retry<T>(step: () => T | typeof WANT_READ | typeof WANT_WRITE): Promise<T> {
    for (;;) {
      if (this.isEnded) throw new StreamEnded();
      const result = step();
      if (result !== WANT_READ && result !== WANT_WRITE) return result as T;
      await this.untilReady(result === WANT_WRITE ? EPOLLOUT : EPOLLIN);
    }
  }

  /** Copies the first unread byte of the socket to the beginning of the chunk. */
  #peek(): number {
    const count = libc.recv(this.fd, chunkAddress as never, 1, MSG_PEEK);
    if (count >= 0) return count;
    return errno() === EAGAIN ? WANT_READ : FAILED;
  }
}
