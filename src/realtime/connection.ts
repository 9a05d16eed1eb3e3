// One client's connection: who it is, what it subscribes to, and when it was last heard of.
import type { Application } from "./application.ts";
import { relayClientEvent } from "./client-events.ts";
import type { CloseReason } from "./protocol/close-codes.ts";
import { Memberships } from "./memberships.ts";
import { errorFrame, PING, PONG } from "./protocol/frames.ts";
import { MAX_CLIENT_EVENTS_PER_SECOND } from "./protocol/limits.ts";
import type { MemberIdentity } from "./protocol/members.ts";
import { readMessage } from "./protocol/messages.ts";
import { subscribe, unsubscribe, unsubscribeAll } from "./subscriptions.ts";
import type { Transport } from "./transport.ts";
import { signIn } from "./users.ts";

/** Versions of the protocol in which clients began to answer `pusher:ping`, and to be told by the close frame alone. */
const FIRST_WITH_PINGS = 5;
const FIRST_WITH_CLOSE_CODES = 6;

export class Connection {
  readonly application: Application;
  readonly transport: Transport;
  readonly socketId: string;
  /** Of the page that connected; null when the client is none. */
  readonly origin: string | null;
  /** The version of the protocol that it speaks. */
  readonly protocol: number;
  /** The channels it subscribes to. */
  readonly channels = new Memberships();
  /** Who signed in, on presence channels as `member` or refused with its text; or null. */
  user: { id: string; member: MemberIdentity | string; watchlist: string[] } | null = null;
  /** These times are of the steady clock, since the other one may be set while nobody is silent. */
  readonly openedAt = performance.now();
  /** When anything was last received, in milliseconds. */
  heardAt = this.openedAt;
  /** When the server asked whether it is alive, in milliseconds; null when no answer is waited for. */
  pingedAt: number | null = null;
  isClosed = false;
  #eventSecond = 0;
  #eventCount = 0;

  constructor(
    application: Application,
    transport: Transport,
    { socketId, origin, protocol }: { socketId: string; origin: string | null; protocol: number },
  ) {
    this.application = application;
    this.transport = transport;
    this.socketId = socketId;
    this.origin = origin;
    this.protocol = protocol;
  }

  /** Acts on a text frame; whatever is in it, this does not throw. */
  receive(text: string): void {
    this.heard();
    this.application.counters.received += 1;
    const message = readMessage(text);
    switch (message.kind) {
      case "ping":
        return this.send(PONG);
      case "pong":
        return;
      case "subscribe":
        return subscribe(this, message);
      case "unsubscribe":
        return unsubscribe(this, message.channel);
      case "signin":
        return signIn(this, message);
      case "client-event":
        return relayClientEvent(this, message);
      case "fault":
        return this.complain(message.text);
    }
  }

  /** Notes a sign of life. */
  heard(): void {
    this.heardAt = performance.now();
    this.pingedAt = null;
  }

  /** Asks whether it is alive, in both ways there are: some clients answer only one of them. */
  ping(): void {
    if (this.protocol >= FIRST_WITH_PINGS) this.send(PING);
    this.transport.ping();
  }

  send(frame: string): void {
    this.transport.send(frame);
    this.application.counters.sent += 1;
  }

  /** Tells the client of a fault; the connection stays. */
  complain(text: string, code: number | null = null): void {
    this.send(errorFrame(code, text));
  }

  /** Tells the client why, and closes the connection. */
  refuse(reason: CloseReason): void {
    if (this.isClosed) return;
    refuse(this.transport, reason, this.protocol);
    this.closed();
  }

  /** Forgets the connection, which may not be sent anything any more. */
  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    unsubscribeAll(this);
    this.application.left(this);
  }

  /** Counts a client event. @returns false when there were too many within a second. */
  takeEvent(): boolean {
    const second = Math.floor(Date.now() / 1_000);
    if (second !== this.#eventSecond) {
      this.#eventSecond = second;
      this.#eventCount = 0;
    }
    this.#eventCount += 1;
    return this.#eventCount <= MAX_CLIENT_EVENTS_PER_SECOND;
  }
}

/** Closes. Clients of older protocols go by an error event, which they get first. @param protocol its version. */
export function refuse(transport: Transport, { code, message }: CloseReason, protocol: number): void {
  if (code >= 4000 && protocol < FIRST_WITH_CLOSE_CODES) transport.send(errorFrame(code, message));
  transport.close(code, message);
}
