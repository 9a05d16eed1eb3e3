// A client's socket: begins in clear, may go on with TLS, and has a deadline until the client has logged in.
import type { Socket } from "bun";
import { StreamEnded, type ClientStream, type TlsInfo } from "../stream.ts";
import { readClientHello, type ClientHello } from "../tls/client-hello.ts";
import type { ShownCertificate, TlsCertificates } from "../tls/certificates.ts";
import { acknowledge } from "./dial.ts";
import { NOBODY, streamHandlers, type SocketOwner } from "./handlers.ts";
import type { SocketPool } from "./socket-pool.ts";
import { SocketStream } from "./socket-stream.ts";
import type { Timer } from "./timers.ts";

/** Whether clients can or must use TLS. */
export interface TlsPolicy {
  /** Null without TLS. */
  certificates: Pick<TlsCertificates, "find"> | null;
  mustStartTls: boolean;
}

/** Fatal alerts in clear (RFC 8446, sections 5.1 and 6). */
const UNEXPECTED_MESSAGE = Uint8Array.of(21, 3, 3, 0, 2, 2, 10);
const NO_APPLICATION_PROTOCOL = Uint8Array.of(21, 3, 3, 0, 2, 2, 120);

const ignore = () => {};

export class ClientSocket extends SocketStream implements ClientStream {
  readonly address: string;
  readonly acceptedAtMs: number;
  /** Called when the client has logged in; throws when the client may not stay. */
  onIdentified: (() => void) | null = null;
  hasUnanswered = false;
  /** When the client or its engine sent bytes last, by the gateway's clock, in milliseconds. */
  usedAtMs: number;
  readonly #policy: TlsPolicy;
  #tls: TlsInfo | null = null;
  #tlsAtMs: number | null = null;
  /** The handshake under way. */
  #handshake: PromiseWithResolvers<void> | null = null;
  #deadline: Timer | null = null;

  constructor(pool: SocketPool, address: string, policy: TlsPolicy) {
    super(pool);
    this.address = address;
    this.acceptedAtMs = pool.timers.now();
    this.usedAtMs = this.acceptedAtMs;
    this.#policy = policy;
  }

  get tls(): TlsInfo | null {
    return this.#tls;
  }

  /** When the TLS handshake ended, in clear the first read; null before. By the gateway's clock, in milliseconds. */
  get receivedAtMs(): number | null {
    return this.#tlsAtMs ?? this.readAtMs;
  }

  /** Whether the descriptor is closed. */
  get isClosed(): boolean {
    return this.fd === -1;
  }

  get canStartTls(): boolean {
    return this.#policy.certificates !== null;
  }

  get mustStartTls(): boolean {
    return this.#policy.mustStartTls;
  }

  async peekByte(): Promise<number> {
    await this.untilUnread(1);
    return this.unread.peek()[0] ?? 0;
  }

  hasUnread(): boolean {
    return !this.isEnded && this.unread.size > 0;
  }

  async startTls(alpn: readonly string[] = []): Promise<void> {
    const { certificates } = this.#policy;
    if (certificates === null || this.#tls !== null)
      throw new Error("TLS cannot be begun on this connection");
    const hello = await this.#clientHello();
    if (hello === null) return this.#refuse(UNEXPECTED_MESSAGE);
    const { serverName, protocols } = hello;
    const selected = alpn.find((each) => protocols.includes(each)) ?? null;
    if (alpn.length > 0 && protocols.length > 0 && selected === null)
      return this.#refuse(NO_APPLICATION_PROTOCOL);
    const certificate = certificates.find(serverName);
    await this.#shakeHands(certificate, selected);
    const { endPointHash, fingerprint } = certificate;
    this.#tls = { serverName, alpn: selected, endPointHash, fingerprint };
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
    this.#deadline = ms === null ? null : this.pool.timers.after(ms, () => this.end());
  }

  override end(): void {
    super.end();
    this.#handshake?.reject(new StreamEnded());
  }

  override close(): void {
    this.setDeadline(null);
    super.close();
    this.#handshake?.reject(new StreamEnded());
  }

  override gone(): void {
    super.gone();
    this.#handshake?.reject(new StreamEnded());
  }

  /** The first message of the handshake, which stays unread; null when the client does not speak TLS. */
  async #clientHello(): Promise<ClientHello | null> {
    for (let neededBytes = 1; ;) {
      await this.untilUnread(neededBytes);
      const hello = readClientHello(this.unread.peek());
      if (hello === "other") return null;
      if (!("neededBytes" in hello)) return hello;
      ({ neededBytes } = hello);
    }
  }

  /** Sends an alert. The client may still be sending, so the socket lingers instead of being reset. */
  #refuse(alert: Uint8Array): never {
    this.write(alert);
    this.end();
    throw new StreamEnded();
  }

  async #shakeHands({ options }: ShownCertificate, protocol: string | null): Promise<void> {
    if (this.isEnded || this.socket === null) throw new StreamEnded();
    const handshake = Promise.withResolvers<void>();
    this.#handshake = handshake;
    // A byte with its length precedes the name (RFC 7301).
    const named =
      protocol === null
        ? {}
        : { ALPNProtocols: Buffer.from(`${String.fromCharCode(protocol.length)}${protocol}`) };
    const initialData = this.unread.takeExactly(this.unread.size);
    const upgrade = {
      data: this as SocketOwner,
      tls: { ...options, ...named },
      isServer: true,
      allowHalfOpen: true,
      initialData,
      socket: {
        ...streamHandlers,
        open: ignore,
        handshake: (_: Socket<SocketOwner>, isDone: boolean) => {
          if (isDone) handshake.resolve();
          else this.end();
        },
      },
    };
    const [raw, secured] = this.socket.upgradeTLS<SocketOwner>(upgrade);
    // The former socket goes on reporting the encrypted bytes.
    raw.data = NOBODY;
    this.socket.data = NOBODY;
    this.replaceSocket(secured);
    try {
      await handshake.promise;
      acknowledge(this.fd);
    } finally {
      this.#handshake = null;
    }
  }
}
