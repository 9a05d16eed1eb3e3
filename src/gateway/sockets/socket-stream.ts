// A socket of the runtime as a stream: reads wait for their bytes, writes are kept until the kernel takes them.
import type { Socket } from "bun";
import { StreamEnded, type Stream } from "../stream.ts";
import type { Consumer } from "./consumer.ts";
import type { SocketOwner } from "./handlers.ts";
import { UnreadBytes } from "./unread-bytes.ts";
import { Outbox } from "./outbox.ts";
import { ReadingSwitch } from "./reading-switch.ts";
import type { SocketPool } from "./socket-pool.ts";
import type { Timer } from "./timers.ts";
import { Waits } from "./waits.ts";

/** How long a peer may take to read the last bytes before the socket is closed. */
const LINGER_MS = 1_000;
/** The most that one read without a length takes. */
const SOME_BYTES = 64 * 1024;
/** A client that is held for its engine is read up to so many bytes: only so the runtime notices that it leaves. */
const HELD_BYTES = 16 * 1024;

export class SocketStream implements Stream, SocketOwner {
  protected readonly pool: SocketPool;
  protected readonly unread = new UnreadBytes();
  protected socket: Socket<SocketOwner> | null = null;
  readonly #waits = new Waits();
  readonly #unsent = new Outbox();
  #consumer: Consumer | null = null;
  #isPaused = false;
  #isFeedDue = false;
  readonly #reading = new ReadingSwitch();
  #isEnding = false;
  /** The peer sends nothing more. */
  #isPeerDone = false;
  /** Nothing can be sent any more. Bytes that arrived before can still be read. */
  #isBroken = false;
  #isClosed = false;
  #lingerTimer: Timer | null = null;
  /** When the first read was fulfilled; null before. */
  readAtMs: number | null = null;
  /** Called when the descriptor is closed. */
  onClosed: (() => void) | null = null;

  constructor(pool: SocketPool) {
    this.pool = pool;
  }

  /** Takes the open socket of the runtime, which this stream owns from then on. */
  adopt(socket: Socket<SocketOwner>): void {
    [this.socket, socket.data] = [socket, this];
    this.pool.opened();
  }

  /** The number of the descriptor; -1 when it is closed. */
  get fd(): number {
    return this.#isClosed ? -1 : (this.socket?.fd ?? -1);
  }

  /** Whether nothing can be written any more. */
  get isEnded(): boolean {
    return this.#isBroken || this.#isEnding;
  }

  get nowMs(): number {
    return this.pool.timers.now();
  }

  /** Whether a consumer, such as a splice, takes the arriving bytes. */
  get isAttached(): boolean {
    return this.#consumer !== null;
  }

  get hasUnsent(): boolean {
    return !this.#unsent.isEmpty;
  }

  async read(length: number): Promise<Uint8Array> {
    if (length === 0) return new Uint8Array();
    await this.untilUnread(length);
    return this.#fulfilled(this.unread.takeExactly(length));
  }

  async readSome(): Promise<Uint8Array> {
    await this.untilUnread(1);
    return this.#fulfilled(this.unread.take(SOME_BYTES));
  }

  /** Sends as many bytes as the kernel takes now and keeps the others, which must not change from here on. */
  write(bytes: Uint8Array): void {
    if (bytes.length === 0 || this.isEnded || this.socket === null) return;
    if (this.hasUnsent) return this.#unsent.add(bytes);
    const sent = this.socket.write(bytes);
    if (sent === bytes.length) return;
    if (sent < 0) return this.#break();
    this.#unsent.add(bytes.subarray(sent));
    this.#regulate();
  }

  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#isBroken) return this.close();
    this.#lingerTimer = this.pool.timers.after(LINGER_MS, () => this.close());
    if (!this.hasUnsent) this.#finish();
    this.#letGo();
  }

  /** Ends the connection at once; unsent bytes are lost. */
  close(): void {
    this.#isEnding = true;
    this.#isBroken = true;
    this.#unsent.clear();
    if (!this.#isClosed) {
      this.unread.clear();
      this.#closed();
      this.socket?.close();
    }
    this.#letGo();
  }

  /** Calls `action` once when the peer sends nothing more, or as `onGone` does; the returned function cancels that. */
  onPeerEnd(action: () => void): () => void {
    const forget = this.#waits.onPeerEnd(action, this.isEnded || this.#isPeerDone);
    this.#regulate();
    return forget;
  }

  /** Calls `action` once when nothing can be written any more; the returned function cancels that. */
  onGone(action: () => void): () => void {
    const forget = this.#waits.onGone(action, this.isEnded);
    this.#regulate();
    return forget;
  }

  /** Gives all arriving bytes to a consumer instead of to reads; null gives them to reads again. */
  consume(consumer: Consumer | null): void {
    this.#consumer = consumer;
    this.#isPaused = false;
    this.#feedSoon();
    this.#regulate();
  }

  /** Stops or continues the consumer's input. The runtime reads no more than the next bytes while it is stopped. */
  pause(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    if (!isPaused) this.#feedSoon();
    this.#regulate();
  }

  /** Ends the sending side; no byte may be unsent. */
  sendEnd(): void {
    if (!this.isEnded) this.socket?.shutdown();
  }

  /** Bytes have arrived. */
  received(bytes: Uint8Array): void {
    if (this.#isEnding) return;
    const consumer = this.#isPaused || this.unread.size > 0 ? null : this.#consumer;
    if (consumer !== null) return consumer.received(bytes);
    this.unread.add(bytes);
    this.#arrived();
    this.#regulate();
  }

  /** The kernel takes bytes again. */
  drained(): void {
    if (this.#isClosed || this.socket === null || !this.hasUnsent) return;
    const { socket } = this;
    if (!this.#unsent.flush((bytes) => socket.write(bytes))) return this.#break();
    if (this.hasUnsent) return;
    if (this.#isEnding) return this.#finish();
    this.#consumer?.drained();
    this.#arrived();
    this.#regulate();
  }

  /** The peer sends nothing more. */
  peerEnded(): void {
    if (this.#isPeerDone) return;
    this.#isPeerDone = true;
    if (this.#isEnding) return this.hasUnsent ? undefined : this.close();
    if (this.#consumer !== null) return this.#feedSoon();
    if (this.#waits.read !== null) return this.#break();
    this.#waits.notifyPeerEnd();
  }

  /** The runtime has closed the socket. */
  gone(): void {
    if (this.#isClosed) return;
    this.#isPeerDone = true;
    this.#closed();
    if (this.#isEnding) return;
    this.#isBroken = false;
    this.#break();
  }

  guard(event: (stream: SocketStream) => void): void {
    if (!this.pool.attempt(() => event(this))) this.close();
  }

  /** Goes on with a socket that decrypts the bytes of the former; all bytes so far have been taken. */
  protected replaceSocket(socket: Socket<SocketOwner>): void {
    this.socket = socket;
    this.#reading.restart(socket);
    this.#regulate();
  }

  /** @throws StreamEnded when the connection ends before so many bytes are unread. */
  protected async untilUnread(length: number): Promise<void> {
    if (this.#isEnding) throw new StreamEnded();
    if (this.unread.size >= length && !this.hasUnsent) return;
    if (this.#isPeerDone && this.unread.size < length) {
      this.#break();
      throw new StreamEnded();
    }
    const arrival = this.#waits.until(length);
    this.#regulate();
    await arrival;
  }

  #fulfilled(bytes: Uint8Array): Uint8Array {
    this.readAtMs ??= this.nowMs;
    this.#regulate();
    return bytes;
  }

  /** Fulfils the waiting read. Nothing is read from a peer that does not read its answers: they would pile up. */
  #arrived(): void {
    if (!this.hasUnsent) this.#waits.arrived(this.unread.size);
  }

  /** All bytes are sent. To close now would reset a peer that is still sending, and it would lose the last bytes. */
  #finish(): void {
    this.unread.clear();
    if (this.#isPeerDone) return this.close();
    this.socket?.shutdown();
    this.#regulate();
  }

  /** Nothing can be sent any more. The last bytes of the peer, and its end, may still arrive. */
  #break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#unsent.clear();
    if (this.#isEnding) return this.close();
    this.#arrived();
    if (this.#isPeerDone) this.#waits.failRead();
    this.#waits.notifyGone();
    this.#consumer?.broken();
    this.#feedSoon();
    this.#regulate();
  }

  #closed(): void {
    this.#isClosed = true;
    this.#lingerTimer?.cancel();
    if (this.socket !== null) this.pool.closed();
    this.onClosed?.();
  }

  /** The owner has ended the stream: fails the consumer and everything that waits. */
  #letGo(): void {
    const consumer = this.#consumer;
    this.#consumer = null;
    this.#waits.failAll();
    consumer?.broken();
  }

  /** Gives the consumer what is unread, and the end, when the present code is done. */
  #feedSoon(): void {
    if (this.#isFeedDue || this.#consumer === null) return;
    this.#isFeedDue = true;
    queueMicrotask(() => {
      this.#isFeedDue = false;
      this.guard(() => this.#feed());
    });
  }

  #feed(): void {
    // The owner had ended the stream before it gave it the consumer.
    if (this.#isEnding) return this.#letGo();
    while (this.#consumer !== null && !this.#isPaused && this.unread.size > 0) {
      this.#consumer.received(this.unread.take(Infinity));
    }
    if (this.#isPaused || this.unread.size > 0) return;
    if (this.#isPeerDone) this.#consumer?.ended();
    else this.#regulate();
  }

  /** Has the runtime read from the kernel, or not. */
  #regulate(): void {
    if (!this.#isClosed && this.socket !== null) this.#reading.turn(this.#mayRead, this.socket);
  }

  get #mayRead(): boolean {
    if (this.#isEnding) return !this.hasUnsent;
    if (this.#consumer !== null) return !this.#isPaused || this.unread.size === 0;
    if (this.hasUnsent) return false;
    return this.unread.size < Math.max(this.#waits.read?.length ?? 1, this.#waits.isHeld ? HELD_BYTES : 1);
  }
}
