// An instance behind the gateway: the clients that wait for its engine, its connections, and its last use.
import { backoffMs } from "../../lib/backoff.ts";
import {
  EngineUnavailable,
  HOLD_MS,
  type Backend,
  type EngineRoom,
  type MessageFramer,
  type SpliceEnd,
} from "../backend.ts";
import type { GatewayMessage, Route } from "../../contracts/gateway-link.ts";
import type { WakeReason } from "../../contracts/sleep.ts";
import type { ClientSocket } from "../sockets/client-socket.ts";
import { dial } from "../sockets/dial.ts";
import type { SocketPool } from "../sockets/socket-pool.ts";
import type { SocketStream } from "../sockets/socket-stream.ts";
import { Drain } from "./drain.ts";
import { Disconnection } from "./disconnect.ts";
import { Splice } from "../sockets/splice.ts";
import { IdleTimer } from "./idle-timer.ts";
import { ParkedClients } from "./parked-clients.ts";
import { SessionClients } from "./session-clients.ts";
import { UsersRefresh } from "./users-refresh.ts";
import { Waiters } from "./waiters.ts";
import { presentableReason } from "./wake-reason.ts";
import { Waking } from "./waking.ts";

/** How long a client waits for an engine that failed to start, and how often it asks; by itself the host tries seldom. */
const [FAILED_HOLD_MS, FAILED_ASK_MS] = [5_000, 500];
/** More clients than any engine takes; each of them costs a few kB. */
const MAX_HELD = 20_000;
/** The pause before another dial when a running engine takes no connection or its accept queue is full. */
const REDIAL_MS = 2;
/** The longest such pause: many waiting clients must leave the processor to the engine. */
const LONGEST_REDIAL_MS = 64;
/** Connections to the engine for clients before their login; the smallest engine takes a hundred connections. */
const MAX_BEGUN = 16;
/** Further connections that end with the engine's answer, so that no silent client can keep them. */
const MAX_QUESTIONS = 4;
/** An engine that has been silent for this long has answered everything. */
const SILENT_MS = 20;

export class InstanceBackend implements Backend<ClientSocket, SocketStream> {
  readonly #pool: SocketPool;
  readonly #send: (message: GatewayMessage) => void;
  readonly #splices = new Set<Splice>();
  readonly sessionClients = new SessionClients<ClientSocket>();
  readonly parked = new ParkedClients<ClientSocket>();
  /** All connections to the engine. */
  readonly #engines = new Set<SocketStream>();
  /** Connections for clients before their login. */
  readonly #begun = new Set<SocketStream>();
  /** Connections for clients during their login. */
  readonly #entering = new Set<SocketStream>();
  readonly #waiters: Waiters;
  readonly #waking: Waking;
  readonly #idleTimer: IdleTimer;
  readonly #users: UsersRefresh;
  #entry: Route;
  #drain: Drain | null = null;
  #disconnection: Disconnection | null = null;
  /** Whether bytes of a client end the drain. */
  #isYielding = false;
  readonly #maxHeld: number;

  /** @param maxHeld how many clients may wait at a time. @param usersTimeoutMs how long the host may take for users. */
  constructor(
    pool: SocketPool,
    entry: Route,
    send: (message: GatewayMessage) => void,
    { maxHeld = MAX_HELD, usersTimeoutMs }: { maxHeld?: number; usersTimeoutMs?: number } = {},
  ) {
    this.#maxHeld = maxHeld;
    this.#pool = pool;
    this.#send = send;
    this.#entry = entry;
    this.#waiters = new Waiters(pool.timers);
    this.#waking = new Waking(pool.timers, entry, send);
    const known = () => this.#entry.users.length;
    const ask = (question: number) => send({ type: "users", id: entry.id, question });
    this.#users = new UsersRefresh(pool.timers, known, ask, usersTimeoutMs);
    this.#idleTimer = new IdleTimer(pool.timers, () => send({ type: "idle", id: entry.id }));
    this.#idleTimer.watch(entry);
  }

  get entry(): Route {
    return this.#entry;
  }

  /** How many sessions are connected to the engine. */
  get sessions(): number {
    return this.#splices.size;
  }

  get room(): EngineRoom {
    if (this.#begun.size < MAX_BEGUN) return "login";
    return this.#begun.size < MAX_BEGUN + MAX_QUESTIONS ? "question" : "none";
  }

  /** Takes the route as the host knows it. @param question the question for the users that it answers. */
  update(entry: Route, question?: number): void {
    const hasOtherUsers = !Bun.deepEquals(entry.users, this.#entry.users);
    this.#entry = entry;
    if (hasOtherUsers) this.parked.endOver();
    if (entry.state !== "draining") {
      this.#endDrain();
      // The host would take a late "detached" for the answer to a later request.
      this.#disconnection?.cancel();
    }
    this.#waking.update(entry);
    this.#idleTimer.watch(entry);
    if (question !== undefined) this.#users.answered(question);
    this.#waiters.wakeAll();
  }

  /** After a new link to the host: the host may have lost the requests of waiting clients, so all of them ask again. */
  remind(): void {
    this.#waking.askAnew();
    // The question for the users went over the lost link; the new link has brought the host's present routes.
    this.#users.end();
    this.#waiters.wakeAll();
  }

  /**
   * Holds all clients, and sends "drained" when nothing is under way any more.
   * @param isYielding whether the drain gives up ("busy") when a client sends something meanwhile.
   */
  drain(withinMs: number, isYielding = false): void {
    this.#drain?.cancel();
    this.#isYielding = isYielding;
    for (const splice of this.#splices) splice.hold(true);
    this.#drain = new Drain(this.#pool.timers, {
      withinMs,
      isIdle: () => this.#isIdle(),
      isWanted: () => this.#isWanted,
      drained: () => this.#send({ type: "drained", id: this.#entry.id }),
      busy: () => this.#goOnBusy(),
    });
  }

  /** Disconnects all clients, unless something is under way: the host may go by the answer to an earlier drain. */
  disconnectIfIdle(): void {
    if (this.#drain === null || this.#isWanted || !this.#isIdle()) this.#goOnBusy();
    else this.disconnect();
  }

  /** Disconnects all clients whatever they do, and sends "detached" when the last connection is closed. */
  disconnect(): void {
    for (const engine of this.#begun) engine.close();
    for (const splice of this.#splices) splice.detach();
    this.#splices.clear();
    this.#disconnection?.cancel();
    this.#disconnection = new Disconnection(this.#pool.timers, this.#engines, () =>
      this.#send({ type: "detached", id: this.#entry.id }),
    );
    this.#disconnection.begin();
  }

  /** The instance is not behind this gateway any more. */
  close(): void {
    this.#drain?.cancel();
    this.#disconnection?.cancel();
    this.#idleTimer.stop();
    this.#waking.close();
    this.#users.end();
    this.#waiters.wakeAll();
  }

  async settled(client: ClientSocket): Promise<"running" | "asleep"> {
    const giveUpAtMs = this.#nowMs + HOLD_MS;
    while (this.#drain !== null || this.#entry.state === "draining" || this.#entry.state === "starting") {
      await this.#change(client, giveUpAtMs);
    }
    return this.#isRunning ? "running" : "asleep";
  }

  async connect(client: ClientSocket, reason: WakeReason, begun?: SocketStream): Promise<SocketStream> {
    let giveUpAtMs = this.#nowMs + HOLD_MS;
    for (let attempts = 1; ;) {
      if (this.#isRunning) {
        const engine = begun?.isEnded === false ? begun : this.#dial();
        if (engine !== null) return this.#enter(engine);
        await this.pause(client, backoffMs(attempts++, REDIAL_MS, LONGEST_REDIAL_MS));
        if (this.#nowMs > giveUpAtMs) throw this.#unavailable();
        continue;
      }
      attempts = 1;
      const { state } = this.#entry;
      if (state === "failed") giveUpAtMs = Math.min(giveUpAtMs, this.#nowMs + FAILED_HOLD_MS);
      if (state !== "starting") this.#waking.ask(client, presentableReason(reason));
      await this.#change(client, giveUpAtMs, state === "failed" ? FAILED_ASK_MS : Infinity);
    }
  }

  async connectIfRunning({ evenDraining = false } = {}): Promise<SocketStream | null> {
    const isUp = this.#isRunning || (evenDraining && ["running", "draining"].includes(this.#entry.state));
    const engine = isUp ? this.#dial() : null;
    if (engine !== null) this.#begun.add(engine);
    return engine;
  }

  pause(client: ClientSocket, ms: number): Promise<void> {
    return this.#waiters.pause(client, ms);
  }

  refreshUsers(): Promise<void> {
    return this.#users.ask();
  }

  loggedIn(client: ClientSocket, session?: number): void {
    if (session !== undefined) this.sessionClients.began(client, session);
    this.#waking.loggedIn(client);
  }

  /** The gateway has stopped serving the client. */
  left(client: ClientSocket): void {
    this.sessionClients.ended(client);
    this.#waking.left(client);
  }

  async splice(client: ClientSocket, engine: SocketStream, framer?: MessageFramer): Promise<SpliceEnd> {
    this.#begun.delete(engine);
    // A client that only found the engine running, without asking for it, has not used it yet.
    const isUse = this.#entering.delete(engine);
    const owner = {
      used: (nowMs: number) => this.#idleTimer.note(nowMs),
      ended: () => this.#splices.delete(splice),
    };
    const splice: Splice = new Splice(client, engine, framer ?? null, owner, isUse);
    this.#splices.add(splice);
    if (this.#drain !== null) splice.hold(true);
    // The engine may give the number of a session that has ended to another session.
    return await splice.end.finally(() => this.sessionClients.ended(client));
  }

  /** Whether the engine takes connections and no drain is under way. */
  get #isRunning(): boolean {
    return this.#entry.state === "running" && this.#drain === null;
  }

  get #nowMs(): number {
    return this.#pool.timers.now();
  }

  /** Whether the drain has to end because a held client has sent something. */
  get #isWanted(): boolean {
    return this.#isYielding && this.#splices.values().some((splice) => splice.isAsked);
  }

  #goOnBusy(): void {
    this.#endDrain();
    this.#send({ type: "busy", id: this.#entry.id });
    this.#waiters.wakeAll();
  }

  #endDrain(): void {
    this.#drain?.cancel();
    this.#drain = null;
    this.#isYielding = false;
    for (const splice of this.#splices) splice.hold(false);
  }

  #isIdle(): boolean {
    const nowMs = this.#nowMs;
    for (const engine of this.#entering) if (engine.isEnded) this.#entering.delete(engine);
    return this.#entering.size === 0 && [...this.#splices].every((splice) => splice.isIdle(nowMs, SILENT_MS));
  }

  /** Holds a client until the route changes, at most `longestMs`. @throws EngineUnavailable after `giveUpAtMs`. */
  async #change(client: ClientSocket, giveUpAtMs: number, longestMs = Infinity): Promise<void> {
    const remainingMs = giveUpAtMs - this.#nowMs;
    if (remainingMs <= 0) throw this.#unavailable();
    if (this.#waiters.size >= this.#maxHeld)
      throw new EngineUnavailable("too many clients wait for it already");
    await this.#waiters.wait(client, Math.min(remainingMs, longestMs));
  }

  #unavailable(): EngineUnavailable {
    return new EngineUnavailable(this.#entry.lastError ?? "it takes too long to start");
  }

  #dial(): SocketStream | null {
    const engine = dial(this.#pool, this.#entry.socket);
    if (typeof engine === "string") return null;
    this.#engines.add(engine);
    engine.onClosed = () => {
      this.#engines.delete(engine);
      this.#begun.delete(engine);
      this.#entering.delete(engine);
    };
    return engine;
  }

  #enter(engine: SocketStream): SocketStream {
    this.#idleTimer.note();
    this.#begun.delete(engine);
    this.#entering.add(engine);
    return engine;
  }
}
