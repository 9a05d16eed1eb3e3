// One wake of an instance: asked for once for all waiting clients, reported with its reason and spans at its end.
import type { GatewayMessage, Route } from "../../contracts/gateway-link.ts";
import type { WakeReason, WakeSpans } from "../../contracts/sleep.ts";
import type { ClientSocket } from "../sockets/client-socket.ts";
import type { Timers } from "../sockets/timers.ts";

/** While an instance cannot be started, each new client asks again, but at most once per interval. */
const ASK_INTERVAL_MS = 1_000;
/** No login takes that long; a client that connected earlier was logged in before the instance fell asleep. */
const LONGEST_LOGIN_MS = 60_000;

interface Cause {
  client: ClientSocket;
  reason: WakeReason;
  at: string;
  beganAtMs: number;
  askedAtMs: number;
  /** When the engine began to take connections; null until then. */
  readyAtMs: number | null;
  /** Whether the gateway has stopped serving the client. */
  hasLeft: boolean;
}

export class Waking {
  readonly #timers: Timers;
  readonly #id: string;
  readonly #send: (message: GatewayMessage) => void;
  /** Clients that have had the engine before. */
  readonly #served = new WeakSet<ClientSocket>();
  #cause: Cause | null = null;
  /** When the host was asked last, unless it has answered since. */
  #askedAtMs = -Infinity;
  #state: Route["state"];
  #latestStart: Route["latestStart"];

  constructor(timers: Timers, { id, state, latestStart }: Route, send: (message: GatewayMessage) => void) {
    this.#timers = timers;
    this.#id = id;
    this.#send = send;
    this.#state = state;
    this.#latestStart = latestStart;
  }

  /** Asks the host for the engine, for a logged-in client. A second client of the same wake changes nothing. */
  ask(client: ClientSocket, reason: WakeReason): void {
    const nowMs = this.#timers.now();
    if (nowMs - this.#askedAtMs < ASK_INTERVAL_MS) return;
    this.#askedAtMs = nowMs;
    this.#cause = this.#goingOn ?? this.#causeOf(client, reason, nowMs);
    this.#send({ type: "wake", id: this.#id, reason: this.#cause.reason });
  }

  /** The host may have lost the request: the next client asks again at once. */
  askAnew(): void {
    this.#askedAtMs = -Infinity;
    if (this.#state === "asleep") this.#forgetLeft();
  }

  /** Takes the route as the host knows it. */
  update({ state, latestStart }: Route): void {
    const former = this.#state;
    this.#latestStart = latestStart;
    this.#state = state;
    if (state !== former && (state === "running" || state === "asleep")) this.#askedAtMs = -Infinity;
    if (state === "running") this.#ready(former);
    if (state !== "asleep") return;
    // The instance fell asleep again before any client was logged in.
    if (this.#cause !== null && this.#cause.readyAtMs !== null) this.#finish(this.#cause);
    // The start has ended without an engine. A request made during a drain stays: its start is yet to come.
    else if (former === "starting" || former === "failed") this.#forgetLeft();
  }

  /** The wake is over when the first client can use the engine, mostly the client that caused it. */
  loggedIn(client: ClientSocket): void {
    this.#served.add(client);
    const cause = this.#cause;
    if (cause === null || cause.readyAtMs === null) return;
    // The client that caused the wake may log in a moment after others.
    if (cause.client !== client && !cause.client.isEnded) return;
    this.#finish(cause);
  }

  /** The gateway has stopped serving a client. Its wake counts all the same, even when its login failed. */
  left(client: ClientSocket): void {
    const cause = this.#cause;
    if (cause?.client !== client) return;
    cause.hasLeft = true;
    if (cause.readyAtMs !== null) this.#finish(cause);
  }

  /** No wake is reported any more. */
  close(): void {
    this.#cause = null;
  }

  /** The wake under way. A wake whose client left before the engine was ready passes to the next client. */
  get #goingOn(): Cause | null {
    const cause = this.#cause;
    return cause?.client.isEnded === true && cause.readyAtMs === null ? null : cause;
  }

  #causeOf(client: ClientSocket, reason: WakeReason, nowMs: number): Cause {
    const beganAtMs = this.#beganAtMs(client, nowMs);
    const at = new Date(Date.now() - (nowMs - beganAtMs)).toISOString();
    return { client, reason, at, beganAtMs, askedAtMs: nowMs, readyAtMs: null, hasLeft: false };
  }

  /** The engine takes connections. @param former the state before. */
  #ready(former: Route["state"]): void {
    const cause = this.#cause;
    if (cause === null) return;
    // The drain was given up: the instance stayed awake, so there was no wake.
    if (former === "draining" && cause.readyAtMs === null) return void (this.#cause = null);
    cause.readyAtMs ??= this.#timers.now();
    if (cause.hasLeft) this.#finish(cause);
  }

  /** Reports a wake, once. */
  #finish(cause: Cause): void {
    this.#cause = null;
    const nowMs = this.#timers.now();
    const { at, reason } = cause;
    const spansMs = spansOf(cause, cause.readyAtMs ?? nowMs, nowMs, this.#latestStart);
    this.#send({ type: "woken", id: this.#id, wake: { at, reason, spansMs } });
  }

  /** A later start does not count for a client that has left. */
  #forgetLeft(): void {
    if (this.#cause?.hasLeft === true) this.#cause = null;
  }

  /** When a client began to wait: at its connection, or, for a client served before, at its request. */
  #beganAtMs(client: ClientSocket, askedAtMs: number): number {
    const isBack = this.#served.has(client) || askedAtMs - client.acceptedAtMs > LONGEST_LOGIN_MS;
    return isBack ? askedAtMs : client.acceptedAtMs;
  }
}

function spansOf(
  { client, beganAtMs, askedAtMs }: Cause,
  readyAtMs: number,
  loggedInAtMs: number,
  latestStart: Route["latestStart"],
): WakeSpans {
  const receivedAtMs = Math.max(client.receivedAtMs ?? 0, beganAtMs);
  const start = Math.min(latestStart?.startMs ?? 0, readyAtMs - askedAtMs);
  return {
    accept: rounded(receivedAtMs - beganAtMs),
    auth: rounded(askedAtMs - receivedAtMs),
    start: rounded(start),
    ready: rounded(readyAtMs - askedAtMs - start),
    login: rounded(loggedInAtMs - readyAtMs),
  };
}

/** Milliseconds to the hundredth. */
function rounded(ms: number): number {
  return Math.round(Math.max(0, ms) * 100) / 100;
}
