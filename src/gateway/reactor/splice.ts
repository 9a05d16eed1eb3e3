// Passes bytes on between a client and its engine: the one place that every byte of every session goes through.
import type { MessageFramer, SpliceEnd } from "../backend.ts";
import { ENDED, FAILED } from "../io-result.ts";
import { chunk, CHUNK_BYTES, chunkAddress } from "./chunk.ts";
import { addressOf, libc, SIOCOUTQ } from "./libc.ts";
import type { ClientSocket } from "./client-socket.ts";
import type { SocketStream } from "./socket-stream.ts";

/** Chunks that one side may send in a row before others get their turn. */
const CHUNKS_IN_A_ROW = 8;

const outputSize = new Int32Array(1);
const outputSizeAddress = addressOf(outputSize);

/** What a splice tells while it lasts. */
export interface SpliceOwner {
  /** Somebody uses the instance. @param nowMs the time of the loop. */
  used(nowMs: number): void;
  /** It has ended by itself. */
  ended(splice: Splice): void;
}

export class Splice {
  readonly #client: ClientSocket;
  readonly #engine: SocketStream;
  readonly #framer: MessageFramer | null;
  readonly #owner: SpliceOwner;
  readonly #resolve: (end: SpliceEnd) => void;
  /** Resolves when it is over. */
  readonly end: Promise<SpliceEnd>;
  /** Whether what the client said last counts as use; what is answered to it counts likewise. */
  #isUse: boolean;
  /** The engine's words are for the client; those of the client are held back. */
  #isHolding = false;
  #isClientDone = false;
  #isEngineDone = false;
  #isOver = false;
  #latestByteAtMs = 0;

  /** @param isUse whether what the engine was told before counts as use. */
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

  /** Takes no more from the client as soon as it is between two messages, or goes on taking. */
  hold(isHolding: boolean): void {
    this.#isHolding = isHolding;
    this.#regulateClient();
  }

  /**
   * Whether all that was taken from the client has reached the engine and was answered, as far as can be told, and both have been
   * silent since.
   * @param nowMs the time of the loop.
   * @param silentMs for how long at least.
   */
  isQuiet(nowMs: number, silentMs: number): boolean {
    if (this.#isOver || this.#isClientDone) return this.#isOver;
    if (!this.#isHeld || this.#engine.hasUnsent || this.#client.hasUnsent) return false;
    if (this.#framer?.isAnswered === false) return false;
    return nowMs - this.#latestByteAtMs >= silentMs && unread(this.#engine) === 0;
  }

  /** Whether the client has said something that was not taken yet. */
  get isAsked(): boolean {
    return !this.#isOver && this.#isHeld && this.#client.hasUnread();
  }

  /** Ends the splice; both are again the protocol handler's, which ends the engine's when it has asked what it wants to know. */
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
      // In clear, a short read says that there is no more.
      if (length < CHUNK_BYTES && !this.#client.isSecured) return;
    }
  }

  #fromEngine(): void {
    for (let count = 0; count < CHUNKS_IN_A_ROW && !this.#isOver; count++) {
      const length = this.#engine.receive(CHUNK_BYTES);
      if (length === FAILED || length === ENDED) return this.#engineEnded();
      if (length < 0) return;
      this.#note(this.#engine.nowMs);
      this.#framer?.hear?.(chunk, length);
      this.#client.send(chunkAddress, length, chunk);
      // Whether the client may be held can have changed with it.
      if (this.#isHolding) this.#regulateClient();
      if (this.#client.hasUnsent) return this.#engine.pause(true);
      if (length < CHUNK_BYTES) return;
    }
  }

  /** Bytes have come; the clock is read once for all who want to know when. */
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

  /** The client has said all it wanted, and may still read the answer. */
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

  /** Its last words may still be there to be read, such as the reason why it took nothing more. */
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

/** How much of what was sent to a unix socket has not been read there. */
function unread(stream: SocketStream): number {
  if (stream.isEnded || libc.ioctl(stream.fd, SIOCOUTQ, outputSizeAddress) < 0) return 0;
  return outputSize[0] ?? 0;
}
