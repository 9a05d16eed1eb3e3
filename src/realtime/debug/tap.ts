// Reports what happens in an application to those who watch it, within a bound on rate and size.
import {
  DEBUG_EVENTS_PER_SECOND,
  MAX_DEBUG_DATA_LENGTH,
  MAX_DEBUG_TEXT_LENGTH,
  type DebugEvent,
} from "../../contracts/realtime-debug.ts";
import { MAX_CHANNEL_NAME_LENGTH } from "../../contracts/channel-name.ts";

/** Gets each report at once. */
export type DebugWatcher = (event: DebugEvent) => void;

/** The place of an event in an application. */
interface Place {
  channel: string;
  socketId: string;
  userId: string | null;
}

const BURST = 2 * DEBUG_EVENTS_PER_SECOND;
/** How often the number of reports that were left out is sent. */
const OMITTED_INTERVAL_MS = 1_000;

/**
 * Exists only while an application is watched. Beyond its rate a report costs no more than a comparison, so that a flood
 * of events is not made worse by a watcher.
 */
export class DebugTap {
  readonly #watchers = new Set<DebugWatcher>();
  readonly #now: () => number;
  #allowed = BURST;
  #allowedAtMs: number;
  #omitted = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  /** @param now the time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#allowedAtMs = now();
  }

  get watchers(): number {
    return this.#watchers.size;
  }

  add(watcher: DebugWatcher): void {
    this.#watchers.add(watcher);
  }

  remove(watcher: DebugWatcher): void {
    this.#watchers.delete(watcher);
    if (this.#watchers.size > 0 || this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  connected(socketId: string, origin: string | null): void {
    if (!this.#isAllowed()) return;
    this.#send({ type: "connected", at: this.#at(), socketId, origin: cutOrNull(origin) });
  }

  disconnected(socketId: string, subscriptions: number): void {
    if (!this.#isAllowed()) return;
    this.#send({ type: "disconnected", at: this.#at(), socketId, subscriptions });
  }

  subscribed({ socketId, channel, userId }: Place, subscriptions: number): void {
    if (!this.#isAllowed()) return;
    this.#send({ type: "subscribed", at: this.#at(), socketId, channel, userId, subscriptions });
  }

  unsubscribed(socketId: string, channel: string, subscriptions: number): void {
    if (!this.#isAllowed()) return;
    this.#send({ type: "unsubscribed", at: this.#at(), socketId, channel, subscriptions });
  }

  channel(type: "channelOccupied" | "channelVacated", channel: string): void {
    if (this.#isAllowed()) this.#send({ type, at: this.#at(), channel });
  }

  member(type: "memberAdded" | "memberRemoved", channel: string, userId: string): void {
    if (this.#isAllowed()) this.#send({ type, at: this.#at(), channel, userId });
  }

  clientEvent({ channel, socketId, userId }: Place, name: string, data: string): void {
    if (!this.#isAllowed()) return;
    const payload = payloadOf(name, data);
    this.#send({ type: "clientEvent", at: this.#at(), socketId, channel, userId, ...payload });
  }

  published(channel: string, name: string, data: string, subscriptions: number): void {
    if (!this.#isAllowed()) return;
    this.#send({ type: "published", at: this.#at(), channel, subscriptions, ...payloadOf(name, data) });
  }

  /** @param about.socketId null for a client that was not let in. */
  refused(
    about: { socketId: string | null; channel: string | null; code: number | null },
    reason: string,
  ): void {
    if (!this.#isAllowed()) return;
    const channel = about.channel?.slice(0, MAX_CHANNEL_NAME_LENGTH) ?? null;
    this.#send({ type: "refused", at: this.#at(), ...about, channel, reason: cut(reason) });
  }

  /** @param host of the webhook's URL. @param events how many events the request had. */
  webhookSent(host: string, events: number): void {
    if (this.#isAllowed()) this.#send({ type: "webhookSent", at: this.#at(), host: cut(host), events });
  }

  webhookFailed(host: string, events: number, reason: string): void {
    if (!this.#isAllowed()) return;
    this.#send({ type: "webhookFailed", at: this.#at(), host: cut(host), events, reason: cut(reason) });
  }

  /** The events of a request are given up. */
  webhookDropped(host: string, events: number): void {
    if (this.#isAllowed()) this.#send({ type: "webhookDropped", at: this.#at(), host: cut(host), events });
  }

  /** Counts a report against the rate; a report beyond it is only counted. */
  #isAllowed(): boolean {
    if (this.#allowed < 1) this.#refill();
    if (this.#allowed >= 1) {
      this.#allowed -= 1;
      return true;
    }
    this.#omitted += 1;
    this.#timer ??= setTimeout(() => this.#sendOmitted(), OMITTED_INTERVAL_MS);
    return false;
  }

  #refill(): void {
    const nowMs = this.#now();
    const more = ((nowMs - this.#allowedAtMs) / 1_000) * DEBUG_EVENTS_PER_SECOND;
    this.#allowed = Math.min(BURST, this.#allowed + Math.max(0, more));
    this.#allowedAtMs = nowMs;
  }

  #sendOmitted(): void {
    this.#timer = null;
    this.#send({ type: "omitted", at: this.#at(), count: this.#omitted });
    this.#omitted = 0;
  }

  #at(): string {
    return new Date(this.#now()).toISOString();
  }

  #send(event: DebugEvent): void {
    for (const watcher of this.#watchers) watcher(event);
  }
}

function payloadOf(name: string, data: string): { event: string; dataBytes: number; data: string } {
  return {
    event: cut(name),
    dataBytes: Buffer.byteLength(data),
    data: data.slice(0, MAX_DEBUG_DATA_LENGTH).toWellFormed(),
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_DEBUG_TEXT_LENGTH).toWellFormed();
}

function cutOrNull(text: string | null): string | null {
  return text === null ? null : cut(text);
}
