// Clients of the model's engine, and their handler: clients that are closed when the engine sleeps, and clients that
// stay connected.
import { EngineUnavailable, type MessageFramer } from "../../../src/gateway/backend.ts";
import type { InstanceBackend } from "../../../src/gateway/instance/instance-backend.ts";
import { ClientSocket } from "../../../src/gateway/sockets/client-socket.ts";
import { adopt } from "../../../src/gateway/sockets/dial.ts";
import type { SocketPool } from "../../../src/gateway/sockets/socket-pool.ts";
import type { SocketStream } from "../../../src/gateway/sockets/socket-stream.ts";
import { StreamEnded } from "../../../src/gateway/stream.ts";
import { Peer } from "../gateway/loop.ts";
import { CANCEL, LOGIN, WELCOME } from "./engine.ts";
import { socketPair } from "../wire/raw-sockets.ts";
import { PrefixFramer } from "../gateway/splices.ts";

/** The handler's messages: ready for queries, engine unavailable, engine asleep. */
const [READY, UNAVAILABLE, ASLEEP] = ["R", "U", "D"] as const;

/** The properties of a client. */
export interface ClientKind {
  /** Whether it stays connected while the engine sleeps. */
  stays: boolean;
  /** Whether its messages arrive before the sleep that is being tried. */
  comesFirst(): boolean;
}

/** Sends a cancel for a query under way, as the handler of a Postgres does; resolves when the connection has ended. */
export async function cancel(backend: InstanceBackend): Promise<void> {
  const engine = await backend.connectIfRunning();
  if (engine === null) return;
  try {
    engine.write(Buffer.from(CANCEL));
    await engine.readSome();
  } catch (error) {
    if (!(error instanceof StreamEnded)) throw error;
  } finally {
    engine.end();
  }
}

export class ModelClient {
  readonly #peer: Peer;
  readonly #kind: ClientKind;
  readonly socket: ClientSocket;
  /** When it sent bytes last; null before its login. */
  spokeAtMs: number | null = null;
  /** All queries, also queries that were sent in part. */
  #queries = Buffer.alloc(0);
  #sent = 0;
  /** Whether it closed by itself. */
  hasLeft = false;
  /** The error of its handler. */
  fault: unknown = null;
  /** Whether it was disconnected from a running engine although it had sent queries before. */
  wasCut = false;
  isServed = false;
  /** Whether an engine that had served it ended without regard for its clients. */
  isStruck = false;
  /** Whether its handler has finished. */
  isOver = false;

  constructor(pool: SocketPool, backend: InstanceBackend, kind: ClientKind) {
    const [ours, theirs] = socketPair();
    this.#peer = new Peer(theirs);
    this.#kind = kind;
    const policy = { certificates: null, mustStartTls: false };
    this.socket = adopt(ours, new ClientSocket(pool, "127.0.0.1:1", policy));
    void this.#serve(backend).catch((error: unknown) => {
      this.fault = error;
    });
  }

  /** Logs in. */
  logIn(nowMs: number): void {
    if (this.spokeAtMs !== null || this.hasLeft) return;
    this.spokeAtMs = nowMs;
    this.#peer.send("?");
  }

  get isReady(): boolean {
    return this.#received.startsWith(READY);
  }

  /** The last message it received: the reason why it is not served any more, or nothing. */
  get farewell(): string {
    const last = this.#received.at(-1);
    return this.hasEnded && (last === UNAVAILABLE || last === ASLEEP) ? last : "";
  }

  /** Whether it received the error that the engine is unavailable. */
  get isRefused(): boolean {
    return this.farewell === UNAVAILABLE;
  }

  /** All bytes but the handler's own messages. */
  get answers(): Buffer {
    const { received } = this.#peer.receiveAll();
    const end = received.length - this.farewell.length;
    return received.subarray(Math.min(1, end), end);
  }

  get #received(): string {
    return this.hasLeft ? "" : this.#peer.text;
  }

  /** Whether the gateway has closed the connection. */
  get hasEnded(): boolean {
    return !this.hasLeft && this.#peer.receiveAll().end !== null;
  }

  /** Whether the answers are those to its queries, in order. */
  get areAnswersRight(): boolean {
    return this.#queries.subarray(0, this.answers.length).equals(this.answers);
  }

  /** Whether a query was sent in part. */
  get isInTheMiddle(): boolean {
    return this.#sent < this.#queries.length;
  }

  /** Whether it waits for nothing. */
  get isContent(): boolean {
    if (this.hasLeft || this.hasEnded) return true;
    return this.isReady && !this.isInTheMiddle && this.answers.length === this.#queries.length;
  }

  /** Sends a query, or continues a query that it has sent in part. @param length from 1 to 31. */
  ask(nowMs: number, length: number, partBytes: number): void {
    if (!this.isReady || this.hasEnded) return;
    this.spokeAtMs = nowMs;
    if (this.#sent === this.#queries.length) {
      const query = Buffer.alloc(1 + length, this.#queries.length % 32);
      query[0] = length;
      this.#queries = Buffer.concat([this.#queries, query]);
    }
    const part = this.#queries.subarray(this.#sent, this.#sent + partBytes);
    this.#sent += Math.max(0, this.#peer.send(part));
  }

  leave(): void {
    this.hasLeft = true;
    this.#peer.close();
  }

  async #serve(backend: InstanceBackend): Promise<void> {
    try {
      await this.socket.read(1);
      const engine = await this.#logIn(backend);
      backend.loggedIn(this.socket);
      this.isServed = true;
      this.socket.write(Buffer.from(READY));
      await this.#goOn(backend, engine);
    } catch (error) {
      if (error instanceof EngineUnavailable) this.socket.write(Buffer.from(UNAVAILABLE));
      else if (!(error instanceof StreamEnded)) throw error;
    } finally {
      this.socket.end();
      backend.left(this.socket);
      this.isOver = true;
    }
  }

  async #goOn(backend: InstanceBackend, first: SocketStream): Promise<void> {
    const framer: MessageFramer = new PrefixFramer();
    for (let engine = first; ; engine = await this.#logIn(backend)) {
      const end = await backend.splice(this.socket, engine, framer);
      engine.end();
      if (end === "closed") return;
      if (!this.#kind.stays) {
        this.wasCut = this.#kind.comesFirst() && this.socket.hasUnread();
        return this.socket.write(Buffer.from(ASLEEP));
      }
      await this.socket.peekByte();
    }
  }

  async #logIn(backend: InstanceBackend): Promise<SocketStream> {
    for (;;) {
      const engine = await backend.connect(this.socket, { user: "ann", address: this.socket.address });
      engine.write(Buffer.from(LOGIN));
      try {
        if (Buffer.from(await engine.read(1)).toString() === WELCOME) return engine;
      } catch {
        engine.end();
        await backend.pause(this.socket, 5);
      }
    }
  }
}
