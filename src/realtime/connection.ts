// A client's connection: its user, its subscriptions, and its latest sign of life.
import type { Application } from "./application.ts";
import { relayClientEvent } from "./client-events.ts";
import type { CloseReason } from "./protocol/close-codes.ts";
import { Memberships } from "./memberships.ts";
import { errorFrame, PING, PONG } from "./protocol/frames.ts";
import { MAX_CLIENT_EVENTS_PER_SECOND, SUBSCRIBE_BURST, SUBSCRIBES_PER_SECOND } from "./protocol/limits.ts";
import type { MemberIdentity } from "./protocol/members.ts";
import { readMessage } from "./protocol/messages.ts";
import { RateWindow } from "./rate-window.ts";
import { subscribe, unsubscribe, unsubscribeAll } from "./subscriptions.ts";
import type { Transport } from "./transport.ts";
import { signIn } from "./users.ts";

/**
 * The versions of the protocol since which clients answer `pusher:ping`, and read the reason from the close frame
 * alone.
 */
const FIRST_WITH_PINGS = 5;
const FIRST_WITH_CLOSE_CODES = 6;
const SUBSCRIBE_INTERVAL_MS = 1_000 / SUBSCRIBES_PER_SECOND;

export class Connection {
  readonly application: Application;
  readonly transport: Transport;
  readonly socketId: string;
  /** The origin of the page that connected; null when the client is not a page. */
  readonly origin: string | null;
  /** The version of the protocol that the client speaks. */
  readonly protocol: number;
  /** The channels to which the connection is subscribed. */
  readonly channels = new Memberships();
  /**
   * The user that signed in, with its identity on presence channels or the text that refuses it there; null before a
   * sign-in.
   */
  user: { id: string; member: MemberIdentity | string; watchlist: string[] } | null = null;
  /** These times are of the steady clock, since a change of the wall clock must not make a client look silent. */
  readonly openedAt = performance.now();
  /** When the client last sent anything, in milliseconds. */
  receivedAt = this.openedAt;
  /** When the server sent a ping, in milliseconds; null when no answer is due. */
  pingedAt: number | null = null;
  isClosed = false;
  /** When another whole burst of subscriptions is allowed, in milliseconds: a bucket of permits in a single number. */
  #burstAllowedAt = 0;
  /** Made with the first client event, since most clients send none. */
  #eventWindow: RateWindow | null = null;

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

  /** Acts on a text frame; never throws, whatever the frame holds. */
  receive(text: string): void {
    this.received();
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

  /** Records a sign of life. */
  received(): void {
    this.receivedAt = performance.now();
    this.pingedAt = null;
  }

  /** Pings in both ways that there are: some clients answer only the one or the other. */
  ping(): void {
    if (this.protocol >= FIRST_WITH_PINGS) this.send(PING);
    this.transport.ping();
  }

  send(frame: string): void {
    this.transport.send(frame);
    this.application.counters.sent += 1;
  }

  /** Sends the client an error; the connection stays. */
  complain(text: string, code: number | null = null): void {
    this.application.debug?.refused({ socketId: this.socketId, channel: null, code }, text);
    this.send(errorFrame(code, text));
  }

  /** Sends the client the reason, and closes the connection. */
  closeWith(reason: CloseReason): void {
    if (this.isClosed) return;
    closeWith(this.transport, reason, this.protocol);
    const { code, message } = reason;
    this.application.debug?.refused({ socketId: this.socketId, channel: null, code }, message);
    this.closed();
  }

  /** Forgets the connection, to which nothing may be sent any more. */
  closed(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.application.debug?.disconnected(this.socketId, this.channels.size);
    unsubscribeAll(this);
    this.application.left(this);
  }

  /** Counts a subscription. @returns false when there were too many. */
  takeSubscription(): boolean {
    const now = performance.now();
    const burstAllowedAt = Math.max(this.#burstAllowedAt, now) + SUBSCRIBE_INTERVAL_MS;
    if (burstAllowedAt - now > SUBSCRIBE_BURST * SUBSCRIBE_INTERVAL_MS) return false;
    this.#burstAllowedAt = burstAllowedAt;
    return true;
  }

  /** Counts a client event. @returns false when there were too many within a second. */
  takeEvent(): boolean {
    this.#eventWindow ??= new RateWindow(MAX_CLIENT_EVENTS_PER_SECOND);
    return this.#eventWindow.take();
  }
}

/**
 * Closes. Clients of older protocols go by an error event, which they get first.
 * @param protocol the client's version.
 */
export function closeWith(transport: Transport, { code, message }: CloseReason, protocol: number): void {
  if (code >= 4000 && protocol < FIRST_WITH_CLOSE_CODES) transport.send(errorFrame(code, message));
  transport.close(code, message);
}
