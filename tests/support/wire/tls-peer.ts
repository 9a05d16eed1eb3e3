// A client that speaks TLS on a bare descriptor, controlled by the test.
import { errno, EAGAIN, addressOf, libc, MSG_PEEK } from "./libc.ts";
import type { TlsCertificates } from "../../../src/gateway/tls/certificates.ts";
import { type Loop, Peer } from "../gateway/loop.ts";
import { OpenSslClient } from "./openssl-client.ts";

const FIONBIO = 0x5421;
const RECORD_BYTES = 16_384;

export class TlsPeer extends Peer {
  readonly #session: OpenSslClient;
  /** Bytes to be sent first, since the kernel took no more. */
  #unsent: Buffer | null = null;
  readonly #memory = Buffer.alloc(65_536);

  constructor(fd: number) {
    super(fd);
    libc.ioctl(fd, FIONBIO, addressOf(new Int32Array([1])));
    this.#session = new OpenSslClient(fd);
  }

  /** Continues the handshake; whether it is done. */
  handshake(): boolean {
    return this.#session.handshake();
  }

  override send(bytes: Uint8Array | string): number {
    this.#unsent ??= Buffer.from(Buffer.from(bytes as string).subarray(0, RECORD_BYTES));
    if (!this.#session.write(this.#unsent)) return 0;
    const { length } = this.#unsent;
    this.#unsent = null;
    return length;
  }

  override receive(atMost = 65_536): boolean {
    if (this.end !== null) return false;
    const count = this.#session.read(this.#memory.subarray(0, atMost));
    if (count > 0) {
      this.add(Buffer.from(this.#memory.subarray(0, count)));
      return true;
    }
    const left = libc.recv(this.fd, addressOf(this.#memory), 1, MSG_PEEK);
    if (left > 0 || (left < 0 && errno() === EAGAIN)) return false;
    this.end = left === 0 ? "closed" : "reset";
    return true;
  }

  override shutdown(): void {
    this.#session.shutdown();
    super.shutdown();
  }

  override close(): void {
    if (!this.isClosed) this.#session.free();
    super.close();
  }
}

/** A client with TLS, after the handshake. */
export async function tlsClient(loop: Loop, certificates: TlsCertificates) {
  const peer = new TlsPeer(Peer.connect(loop.port).fd);
  const client = await loop.accept({ certificates, mustStartTls: true });
  let isDone = false;
  void client.startTls().then(() => (isDone = true));
  await loop.until(() => peer.handshake() && isDone);
  return { client, peer };
}
