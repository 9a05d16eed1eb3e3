// Passes bytes on between a client and its engine: every byte of every session goes through this file.
import type { MessageFramer, SpliceEnd } from "../backend.ts";
import { ENDED, FAILED } from "../io-result.ts";
import { chunk, CHUNK_BYTES, chunkAddress } from "./chunk.ts";
import { addressOf, libc, SIOCOUTQ } from "./libc.ts";
import type { ClientSocket } from "./client-socket.ts";
import type { SocketStream } from "./socket-stream.ts";

/** Chunks that one side may send in a row before other sockets get their turn. */
const CHUNKS_IN_A_ROW = 8;

const outputSize = new Int32Array(1);
const outputSizeAddress = addressOf(outputSize);

/** The events of a splice. */
export interface SpliceOwner {
  /** The client uses the instance. @param nowMs by the loop's clock. */
  used(nowMs: number): void;
  /** The splice has ended by itself. */
  ended(splice: Splice): void;
}

export class Splice {
  readonly #client: ClientSocket;
  readonly #engine: SocketStream;
  readonly #framer: MessageFramer | null;
  readonly #owner: SpliceOwner;
  readonly #resolve: (end: SpliceEnd) => void;
  /** Resolves when the splice is over. */
  readonly end: Promise<SpliceEnd>;
  /** Whether the client's last bytes count as use; the engine's answers to them count likewise. */
  #isUse: boolean;
  /** Whether the client's messages are held back; the engine's answers still pass. */
  #isHolding = false;
  #isClientDone = false;
  #isEngineDone = false;
  #isOver = false;
  #latestByteAtMs = 0;

  /** @param isUse whether the bytes sent to the engine before the splice count as use. */
  constructor(
    client: ClientSocket,
    engine: SocketStream,
    framer: MessageFramer | null,
    owner: SpliceOwner,
    isUse: boolean,
  ) {
    const { promise, resolve } = Promise.withResolvers<SpliceEnd>();
    this.end = promise;
    this.#resolve = resolve;
    this.#client = client;
    this.#engine = engine;
    this.#isUse = isUse;
    this.#framer = framer;
    this.#owner = owner;
    client.consume({
      readable: () => this.#fromClient(),
      drained: () => this.#clientDrained(),
      broken: () => this.#close(),
    });
    engine.consume({
      readable: () => this.#fromEngine(),
      drained: () => this.#engineDrained(),
      broken: () => this.#engineBroke(),
    });
    if (client.hasUnsent) engine.pause(true);
    if (engine.hasUnsent) client.pause(true);
  }

  /** Stops reading from the client as soon as its last message is whole, or reads on. */
  hold(isHolding: boolean): void {
    this.#isHolding = isHolding;
    this.#regulateClient();
  }

  /**
   * Whether all bytes of the client have reached the engine and are answered, as far as is known, and both sides have
   * been silent since.
   * @param nowMs by the loop's clock.
   * @param silentMs the least silence.
   */
  isIdle(nowMs: number, silentMs: number): boolean {
    if (this.#isOver || this.#isClientDone) return this.#isOver;
    if (!this.#isHeld || this.#engine.hasUnsent || this.#client.hasUnsent) return false;
    if (this.#framer?.isAnswered === false) return false;
    return nowMs - this.#latestByteAtMs >= silentMs && unread(this.#engine) === 0;
  }

  /** Whether the held client has sent bytes that are unread. */
  get isAsked(): boolean {
    return !this.#isOver && this.#isHeld && this.#client.hasUnread();
  }

  /** Ends the splice. The protocol handler owns both streams again, and ends the engine's after its last questions. */
  detach(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client.consume(null);
    this.#engine.consume(null);
    this.#resolve("detached");
  }

  get #isHeld(): boolean {
    return this.#isHolding && (this.#framer === null || this.#framer.isBetweenMessages);
  }

  #fromClient(): void {
    for (let count = 0; count < CHUNKS_IN_A_ROW && !this.#isOver; count++) {
      const length = this.#client.receive(CHUNK_BYTES);
      if (length === FAILED) return this.#close();
      if (length === ENDED) return this.#clientEnded();
      if (length < 0) return;
      this.#isUse = this.#framer === null || this.#framer.walk(chunk, length);
      this.#note(this.#client.nowMs);
      this.#engine.send(chunkAddress, length, chunk);
      if (this.#isHolding || this.#engine.hasUnsent) return this.#regulateClient();
      // In clear, a short read means that no more bytes have arrived.
      if (length < CHUNK_BYTES && !this.#client.isSecured) return;
    }
  }

  #fromEngine(): void {
    for (let count = 0; count < CHUNKS_IN_A_ROW && !this.#isOver; count++) {
      const length = this.#engine.receive(CHUNK_BYTES);
      if (length === FAILED || length === ENDED) return this.#engineEnded();
      if (length < 0) return;
      this.#note(this.#engine.nowMs);
      this.#framer?.observe?.(chunk, length);
      this.#client.send(chunkAddress, length, chunk);
      // The engine's bytes may have changed whether the client can be held.
      if (this.#isHolding) this.#regulateClient();
      if (this.#client.hasUnsent) return this.#engine.pause(true);
      if (length < CHUNK_BYTES) return;
    }
  }

  /** Records the time of bytes; the clock is read once for all users of the time. */
  #note(nowMs: number): void {
    this.#latestByteAtMs = nowMs;
    this.#client.usedAtMs = nowMs;
    if (this.#isUse) this.#owner.used(nowMs);
  }

  #clientDrained(): void {
    if (this.#isEngineDone) this.#close();
    else this.#engine.pause(false);
  }

  #engineDrained(): void {
    if (this.#isClientDone) this.#engine.sendEnd();
    else this.#regulateClient();
  }

  #regulateClient(): void {
    if (this.#isOver) return;
    this.#client.pause(this.#isHeld || this.#engine.hasUnsent || this.#isClientDone);
  }

  /** The client has ended its side, and may still read the answer. */
  #clientEnded(): void {
    this.#isClientDone = true;
    this.#client.pause(true);
    if (!this.#engine.hasUnsent) this.#engine.sendEnd();
  }

  #engineEnded(): void {
    this.#isEngineDone = true;
    this.#engine.pause(true);
    if (!this.#client.hasUnsent) this.#close();
  }

  /** The engine's last bytes may still be unread, such as its reason for closing. */
  #engineBroke(): void {
    this.#fromEngine();
    if (!this.#isOver) this.#engineEnded();
  }

  #close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#engine.close();
    this.#client.end();
    this.#owner.ended(this);
    this.#resolve("closed");
  }
}

/** The count of sent bytes that the peer of a unix socket has not read. */
function unread(stream: SocketStream): number {
  if (stream.isEnded || libc.ioctl(stream.fd, SIOCOUTQ, outputSizeAddress) < 0) return 0;
  return outputSize[0] ?? 0;
}
