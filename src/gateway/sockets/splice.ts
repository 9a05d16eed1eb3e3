// Passes bytes on between a client and its engine: every byte of every session goes through this file.
import type { MessageFramer, SpliceEnd } from "../backend.ts";
import type { ClientSocket } from "./client-socket.ts";
import type { SocketStream } from "./socket-stream.ts";
import { untaken } from "./untaken.ts";

/** The events of a splice. */
export interface SpliceOwner {
  /** The client uses the instance. @param nowMs by the gateway's clock. */
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
  /** Whether the client's last bytes wait for something that their framer has to know first. */
  #isAsking = false;
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
      received: (bytes) => this.#fromClient(bytes),
      ended: () => this.#clientEnded(),
      drained: () => this.#clientDrained(),
      broken: () => this.#close(),
    });
    engine.consume({
      received: (bytes) => this.#fromEngine(bytes),
      ended: () => this.#engineEnded(),
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
   * @param nowMs by the gateway's clock.
   * @param silentMs the least silence.
   */
  isIdle(nowMs: number, silentMs: number): boolean {
    if (this.#isOver || this.#isClientDone) return this.#isOver;
    if (this.#isAsking || !this.#isHeld || this.#engine.hasUnsent || this.#client.hasUnsent) return false;
    if (this.#framer?.isAnswered === false) return false;
    return nowMs - this.#latestByteAtMs >= silentMs && untaken(this.#engine.fd) === 0;
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

  #fromClient(bytes: Uint8Array): void {
    if (this.#isOver || this.#engine.isEnded) return;
    const question = this.#framer?.question?.(bytes, bytes.length) ?? null;
    if (question === null) this.#pass(bytes);
    else void this.#passAfter(question, Uint8Array.from(bytes));
  }

  async #passAfter(question: Promise<void>, bytes: Uint8Array): Promise<void> {
    this.#isAsking = true;
    this.#regulateClient();
    await question;
    this.#client.guard(() => {
      this.#isAsking = false;
      if (this.#isOver || this.#engine.isEnded) return;
      this.#pass(bytes);
      this.#regulateClient();
    });
  }

  #pass(bytes: Uint8Array): void {
    this.#isUse = this.#framer === null || this.#framer.walk(bytes, bytes.length);
    this.#note(this.#client.nowMs);
    this.#engine.write(bytes);
    if (this.#isHolding || this.#engine.hasUnsent) this.#regulateClient();
  }

  #fromEngine(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#note(this.#engine.nowMs);
    this.#framer?.observe?.(bytes, bytes.length);
    this.#client.write(bytes);
    // The engine's bytes may have changed whether the client can be held.
    if (this.#isHolding) this.#regulateClient();
    if (this.#client.hasUnsent) this.#engine.pause(true);
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
    const isBlocked = this.#isAsking || this.#isHeld || this.#engine.hasUnsent;
    this.#client.pause(isBlocked || this.#engine.isEnded || this.#isClientDone);
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

  /** The engine takes nothing more. Its last bytes may still follow, such as its reason for closing. */
  #engineBroke(): void {
    // When other code has ended the engine's stream, no end of it follows.
    if (!this.#engine.isAttached) return this.#close();
    this.#regulateClient();
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
