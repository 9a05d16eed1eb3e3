// A socket of the loop as a stream: reads wait for their bytes, writes are kept until the kernel takes them.
import { ENDED, FAILED, WANT_WRITE } from "../io-result.ts";
import { StreamEnded, type Stream } from "../stream.ts";
import { CHUNK_BYTES, chunkAddress } from "./chunk.ts";
import type { Consumer } from "./consumer.ts";
import { discard, receive, transmit, type Secured } from "./endpoint.ts";
import { BREAKS, inputEvent, Interest } from "./interest.ts";
import { addressOf, EPOLLIN, EPOLLOUT, EPOLLRDHUP, libc, SHUT_WR } from "./libc.ts";
import { Outbox } from "./outbox.ts";
import { PendingRead } from "./pending-read.ts";
import type { Reactor, Watcher } from "./reactor.ts";
import type { Timer } from "./timers.ts";
import { Waits } from "./waits.ts";

/** How long a peer may take to read the last bytes before the socket is closed. */
const LINGER_MS = 1_000;

export class SocketStream implements Stream, Watcher {
  readonly fd: number;
  protected readonly reactor: Reactor;
  protected secured: Secured | null = null;
  readonly #interest: Interest;
  readonly #waits = new Waits();
  #consumer: Consumer | null = null;
  #isPaused = false;
  #isNudged = false;
  readonly #unsent = new Outbox();
  #isEnding = false;
  /** The peer has ended its side while no read was pending. */
  #isPeerDone = false;
  /** Nothing can be sent any more. Bytes that arrived before can still be read. */
  #isBroken = false;
  #isClosed = false;
  #lingerTimer: Timer | null = null;
  /** When the first read was fulfilled; null before. */
  readAtMs: number | null = null;
  /** Called when the descriptor is closed. */
  onClosed: (() => void) | null = null;

  constructor(reactor: Reactor, fd: number) {
    this.reactor = reactor;
    this.fd = fd;
    reactor.adopt();
    this.#interest = new Interest(reactor, fd, this);
    try {
      this.#updateInterest();
    } catch (error) {
      reactor.discard(fd);
      throw error;
    }
  }

  /** Whether nothing can be written any more. */
  get isEnded(): boolean {
    return this.#isBroken || this.#isEnding;
  }

  get nowMs(): number {
    return this.reactor.timers.now();
  }

  get isSecured(): boolean {
    return this.secured !== null;
  }

  /** Whether a consumer, such as a splice, takes the arriving bytes. */
  get isAttached(): boolean {
    return this.#consumer !== null;
  }

  get hasUnsent(): boolean {
    return !this.#unsent.isEmpty;
  }

  read(length: number): Promise<Uint8Array> {
    return length === 0 ? Promise.resolve(new Uint8Array()) : this.#beginRead(length);
  }

  readSome(): Promise<Uint8Array> {
    return this.#beginRead(null);
  }

  write(bytes: Uint8Array): void {
    if (bytes.length > 0) this.send(addressOf(bytes), bytes.length, bytes);
  }

  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#isBroken) return this.close();
    this.#lingerTimer = this.reactor.timers.after(LINGER_MS, () => this.close());
    if (this.hasUnsent) this.#updateInterest();
    else this.#finish();
    this.#letGo();
  }

  /** Ends the connection at once; unsent bytes are lost. */
  close(): void {
    if (this.#isClosed) return;
    this.#interest.set(0);
    this.#isClosed = true;
    this.#isEnding = true;
    this.#lingerTimer?.cancel();
    this.#unsent.clear();
    this.secured?.free();
    this.secured = null;
    this.reactor.discard(this.fd);
    this.#letGo();
    this.onClosed?.();
  }

  /** An uncaught error ends this connection alone. */
  failed(): void {
    this.close();
  }

  /** Calls `action` once when the peer has gone or the stream has ended; the returned function cancels that. */
  onGone(action: () => void): () => void {
    const forget = this.#waits.onGone(action);
    if (this.isEnded || this.#isPeerDone) this.#waits.notifyGone();
    return forget;
  }

  /** Gives all arriving bytes to a consumer instead of to reads; null gives them to reads again. */
  consume(consumer: Consumer | null): void {
    this.#consumer = consumer;
    this.#isPaused = false;
    this.#updateInterest();
    this.#nudge();
    if (consumer === null || !this.isEnded) return;
    this.reactor.timers.after(0, () => {
      if (this.#consumer === consumer) consumer.broken();
    });
  }

  /** Stops or continues the consumer's input. */
  pause(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    this.#updateInterest();
    this.#nudge();
  }

  /** Reads at most `length` bytes to the beginning of the chunk; returns as `receive` of endpoint.ts. */
  receive(length: number): number {
    // The number of a closed descriptor may belong to another connection by now.
    return this.#isClosed ? FAILED : receive(this.fd, this.secured, chunkAddress, length);
  }

  /**
   * Sends `length` bytes of memory, and keeps a copy of the bytes that the kernel does not take now.
   * @param bytes the same memory as `address`.
   */
  send(address: number, length: number, bytes: Uint8Array): void {
    if (this.isEnded) return;
    const sent = this.hasUnsent ? WANT_WRITE : transmit(this.fd, this.secured, address, length);
    if (sent === length) return;
    if (sent === FAILED) return this.#break();
    this.#unsent.add(bytes.slice(Math.max(0, sent), length));
    this.#updateInterest();
  }

  /** Ends the sending side; no byte may be unsent. */
  sendEnd(): void {
    if (!this.isEnded) libc.shutdown(this.fd, SHUT_WR);
  }

  ready(events: number): void {
    if (this.#isClosed) return;
    if ((events & (EPOLLOUT | BREAKS)) !== 0 && this.hasUnsent) this.#flush();
    if (this.#isClosed || this.#isBroken) return;
    if (this.#waits.step !== null) {
      this.#waits.endStep();
      return this.#updateInterest();
    }
    if ((events & (~EPOLLOUT | inputEvent(this.secured))) === 0) return;
    if (this.#isEnding) {
      if (this.hasUnsent || discard(this.fd, chunkAddress, CHUNK_BYTES)) this.close();
      return;
    }
    if (this.#consumer !== null) return this.#feed();
    if (this.#waits.read !== null) return this.#continueRead();
    this.#notice(events);
  }

  /** @throws StreamEnded when the connection ends before the event. */
  protected untilReady(event: typeof EPOLLIN | typeof EPOLLOUT): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waits.step = { event, resolve, reject };
      this.#updateInterest();
    });
  }

  #beginRead(length: number | null): Promise<Uint8Array> {
    if (this.#isEnding) return Promise.reject(new StreamEnded());
    const read = new PendingRead(length);
    this.#waits.read = read;
    // Mostly the bytes have arrived already, which saves a round of the loop.
    this.#continueRead();
    return read.bytes;
  }

  #continueRead(): void {
    // Nothing is read from a peer that does not read its answers, or the answers would pile up.
    const waits = this.#waits;
    while (waits.read !== null && !this.hasUnsent) {
      const count = this.receive(waits.read.room);
      if (count === ENDED || count === FAILED) {
        waits.failRead();
        return this.#break();
      }
      if (count < 0) break;
      if (!waits.read.take(count)) continue;
      waits.read = null;
      this.readAtMs ??= this.nowMs;
    }
    // Nothing more arrives at a broken connection.
    if (this.#isBroken) waits.failRead();
    else this.#updateInterest();
  }

  /** Handles events that come while no read is pending. */
  #notice(events: number): void {
    if ((events & BREAKS) !== 0) return this.#break();
    if ((events & EPOLLRDHUP) === 0) return;
    this.#isPeerDone = true;
    this.#updateInterest();
    this.#waits.notifyGone();
  }

  #flush(): void {
    const isWhole = this.#unsent.flush((address, length) => transmit(this.fd, this.secured, address, length));
    if (!isWhole) return this.#break();
    if (this.hasUnsent) return;
    this.#updateInterest();
    if (this.#isEnding) this.#finish();
    else if (this.#consumer !== null) this.#consumer.drained();
    else this.#continueRead();
  }

  /** All bytes are sent. To close now would reset a peer that is still sending, and it would lose the last bytes. */
  #finish(): void {
    this.secured?.shutdown();
    libc.shutdown(this.fd, SHUT_WR);
    this.#updateInterest();
  }

  /** Fails everything that waits for the stream; the descriptor is closed when the owner ends the stream. */
  #break(): void {
    if (this.#isBroken) return;
    this.#isBroken = true;
    this.#unsent.clear();
    if (this.#isEnding) return this.close();
    this.#interest.set(0);
    // The last bytes of the peer may have arrived already.
    this.#continueRead();
    this.#waits.failAll();
    this.#consumer?.broken();
  }

  /** The owner has ended the stream: fails the consumer and everything that waits. */
  #letGo(): void {
    const consumer = this.#consumer;
    this.#consumer = null;
    this.#waits.failAll();
    consumer?.broken();
  }

  #feed(): void {
    if (this.#consumer === null || this.#isPaused || this.isEnded) return;
    this.#consumer.readable();
    this.#nudge();
  }

  /** Feeds the bytes that TLS has read from the kernel already: epoll reports no event for them. */
  #nudge(): void {
    if (this.secured === null) return;
    this.#updateInterest();
    if (this.secured.pending === 0 || this.#isNudged || this.#consumer === null || this.#isPaused) return;
    this.#isNudged = true;
    this.reactor.timers.after(0, () => {
      this.#isNudged = false;
      this.#feed();
    });
  }

  #updateInterest(): void {
    if (this.#isBroken || this.#isClosed) return;
    const output = this.hasUnsent ? EPOLLOUT : 0;
    this.#interest.set(output | this.#inputInterest());
  }

  #inputInterest(): number {
    if (this.#isEnding) return this.hasUnsent ? 0 : EPOLLIN;
    if (this.#waits.step !== null) return this.#waits.step.event;
    if (this.#consumer !== null) return this.#isPaused ? 0 : inputEvent(this.secured);
    if (this.#waits.read === null) return this.#isPeerDone ? 0 : EPOLLRDHUP;
    return this.hasUnsent ? 0 : inputEvent(this.secured);
  }
}
