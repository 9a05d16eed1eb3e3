// The gateway's sockets within a test, which turns their clock, and peers on bare descriptors that the test controls.
import { readdirSync } from "node:fs";
import { ClientSocket, type TlsPolicy } from "../../../src/gateway/sockets/client-socket.ts";
import { adopt } from "../../../src/gateway/sockets/dial.ts";
import { SocketPool } from "../../../src/gateway/sockets/socket-pool.ts";
import { SocketStream } from "../../../src/gateway/sockets/socket-stream.ts";
import {
  addressOf,
  AF_INET,
  EAGAIN,
  errno,
  libc,
  MSG_NOSIGNAL,
  SHUT_WR,
  SOCK_CLOEXEC,
  SOCK_STREAM,
  SOL_SOCKET,
} from "../wire/libc.ts";
import { RawListener, socketPair } from "../wire/raw-sockets.ts";
import { ManualTimers } from "./manual-timers.ts";

const PATIENCE_MS = 60_000;
const [SO_SNDBUF, SO_RCVBUF, SO_LINGER] = [7, 8, 13];
const MSG_DONTWAIT = 0x40;
const IN_CLEAR: TlsPolicy = { certificates: null, mustStartTls: false };

/** The buffer that peers receive into. */
const memory = Buffer.alloc(65_536);
const memoryAddress = addressOf(memory);

export class Loop {
  readonly timers: ManualTimers;
  readonly pool: SocketPool;
  /** Exceptions that no code catches. */
  readonly faults: unknown[] = [];
  readonly #listener = new RawListener();

  /** @param now the clock of the timers, in milliseconds that never go back. */
  constructor({ now = () => performance.now() }: { now?: () => number } = {}) {
    this.timers = new ManualTimers(now);
    this.pool = new SocketPool(this.timers, (error) => this.faults.push(error));
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Runs the timers that are due, and a turn of the runtime's event loop. */
  async turn(): Promise<void> {
    this.pool.attempt(() => this.timers.run());
    await new Promise((resolve) => setImmediate(resolve));
  }

  async until(holds: () => boolean): Promise<void> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (!holds()) {
      if (performance.now() > giveUpAt) throw new Error("timed out");
      await this.turn();
    }
  }

  /** Continues until the promise is settled. */
  async of<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => {
      isSettled = true;
    };
    promise.then(settled, settled);
    await this.until(() => isSettled);
    return await promise;
  }

  /** The rejection of a promise. */
  rejectionOf(promise: Promise<unknown>): Promise<unknown> {
    return this.of(
      promise.then(
        () => "fulfilled",
        (error: unknown) => error,
      ),
    );
  }

  /** Continues until nothing but timers is left to happen. */
  async rest(): Promise<void> {
    for (let turns = 0; turns < 20; turns++) await this.turn();
  }

  /** The next client of `port`. */
  async accept(policy = IN_CLEAR): Promise<ClientSocket> {
    const fd = await this.#listener.accept();
    return adopt(fd, new ClientSocket(this.pool, "127.0.0.1:1", policy));
  }

  /** A client over TCP, and the other end. */
  async client(policy = IN_CLEAR): Promise<{ client: ClientSocket; peer: Peer }> {
    const peer = Peer.connect(this.port);
    return { client: await this.accept(policy), peer };
  }

  /** A connection to an engine through a unix socket, and the engine's end. */
  engine(): { engine: SocketStream; peer: Peer } {
    const [ours, theirs] = socketPair();
    return { engine: adopt(ours, new SocketStream(this.pool)), peer: new Peer(theirs) };
  }

  close(): void {
    this.#listener.close();
  }
}

/** The other end of a connection. */
export class Peer {
  readonly fd: number;
  #parts: Buffer[] = [];
  /** The end of the connection; null before it. */
  end: "closed" | "reset" | null = null;
  #isClosed = false;

  constructor(fd: number) {
    this.fd = fd;
  }

  /** @param host the last byte of its own address, 127.0.0.x. @throws when the port has no listener. */
  static connect(port: number, host = 1): Peer {
    const name = new DataView(new ArrayBuffer(16));
    name.setUint16(0, AF_INET, true);
    name.setUint32(4, 0x7f000000 + host);
    const fd = libc.socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (host !== 1) libc.bind(fd, addressOf(name), 16);
    name.setUint16(2, port);
    name.setUint32(4, 0x7f000001);
    if (libc.connect(fd, addressOf(name), 16) === 0) return new Peer(fd);
    const reason = errno();
    libc.close(fd);
    throw new Error(`cannot connect (${reason})`);
  }

  /** Sends as many bytes as the kernel takes. @returns their number; -1 when the connection is broken. */
  send(bytes: Uint8Array | string): number {
    const buffer = Buffer.from(bytes as string);
    if (buffer.length === 0) return 0;
    const sent = libc.send(this.fd, addressOf(buffer), buffer.length, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return sent;
    return errno() === EAGAIN ? 0 : -1;
  }

  /** Takes at most so many bytes. @returns whether there were any, or the end. */
  receive(atMost = 65_536): boolean {
    if (this.end !== null) return false;
    const count = libc.recv(this.fd, memoryAddress, Math.min(atMost, memory.length), MSG_DONTWAIT);
    if (count < 0 && errno() === EAGAIN) return false;
    if (count <= 0) this.end = count === 0 ? "closed" : "reset";
    else this.add(Buffer.from(memory.subarray(0, count)));
    return true;
  }

  /** Takes everything that has arrived. */
  receiveAll(): this {
    while (this.receive());
    return this;
  }

  protected add(bytes: Buffer): void {
    this.#parts.push(bytes);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** All received bytes. */
  get received(): Buffer {
    if (this.#parts.length === 1 && this.#parts[0] !== undefined) return this.#parts[0];
    const whole = Buffer.concat(this.#parts);
    this.#parts = [whole];
    return whole;
  }

  get text(): string {
    return this.receiveAll().received.toString();
  }

  shutdown(): void {
    libc.shutdown(this.fd, SHUT_WR);
  }

  /** Resets the connection, so that the other side gets an error. */
  reset(): void {
    libc.setsockopt(this.fd, SOL_SOCKET, SO_LINGER, addressOf(new Int32Array([1, 0])), 8);
    this.close();
  }

  /** Limits the kernel's buffers in both directions. */
  shrink(): this {
    for (const option of [SO_SNDBUF, SO_RCVBUF]) shrinkBuffer(this.fd, option);
    return this;
  }

  close(): void {
    if (!this.#isClosed) libc.close(this.fd);
    this.#isClosed = true;
  }
}

/** Limits the kernel's buffer. */
export function shrinkSending(stream: SocketStream): void {
  shrinkBuffer(stream.fd, SO_SNDBUF);
}

function shrinkBuffer(fd: number, option: number): void {
  libc.setsockopt(fd, SOL_SOCKET, option, addressOf(new Int32Array([4_096])), 4);
}

/** Bytes that are the same for the same seed, and reveal any lost, doubled or misplaced byte. */
export function noise(length: number, seed: number): Buffer {
  const words = new Uint32Array(Math.ceil(length / 4));
  let state = seed | 1;
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    words[index] = state;
  }
  return Buffer.from(words.buffer, 0, length);
}

/** How many descriptors this process has open. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}
