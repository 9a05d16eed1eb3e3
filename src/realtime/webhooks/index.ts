// The webhooks of one application: they report the events of its channels to servers of the customer.
import type { Log } from "../../lib/line-log.ts";
import type { Webhook as WebhookConfig, WebhookEventType } from "../../contracts/websocket-application.ts";
import type { DebugTap } from "../debug/tap.ts";
import type { ApplicationEvents, ClientEvent } from "../events.ts";
import type { SharedCount } from "../shared-count.ts";
import type { Waiting, WebhookCounters } from "./batch.ts";
import { systemClock, type Clock } from "./clock.ts";
import { Departures } from "./departures.ts";
import type { Resolve } from "./guard.ts";
import type { Delivery } from "./queue.ts";
import { Sender, type Credentials } from "./sender.ts";
import { Places } from "../../lib/places.ts";
import { Spool } from "./spool.ts";
import { Webhook } from "./webhook.ts";

export type { Waiting, WebhookCounters } from "./batch.ts";

/** The events of this time go out together to a webhook that asks for batches. */
const BATCH_MS = 50;
/** A client that reconnects within this time has not left, as with Pusher. */
const DEPARTURE_MS = 3000;
/** The most requests at the same time of all webhooks of the application; a webhook has one at a time. */
const MAX_IN_FLIGHT = 4;
/** How long the end of the process waits for answers. */
const CLOSE_GRACE_MS = 1000;

/** An event as it is in the body. */
interface WebhookEvent {
  name: WebhookEventType;
  channel: string;
  [member: string]: string | number | undefined;
}

interface Departure {
  event: WebhookEvent;
  /** Of a channel that has lost its last subscriber: the count that was reported before. */
  formerCount?: number;
}

export interface WebhooksOptions {
  applicationId: string;
  /** Called at each attempt, so that a batch is signed with the secret that is valid when it is sent. */
  credentials: () => Credentials;
  /** A file of this application alone, which need not exist. */
  spoolFile: string;
  /** Whether webhooks may call addresses that are not public. */
  allowPrivate: boolean;
  /** Counted on; left out for counts of these webhooks alone. */
  counters?: WebhookCounters;
  /** Shared by all applications of the process. */
  waiting: Waiting;
  /** The departures that all applications of the process hold back. */
  heldDepartures: SharedCount;
  /** Null while nobody watches the application. */
  debug?: () => DebugTap | null;
  log: Log;
  /** For tests. */
  clock?: Clock;
  resolve?: Resolve;
}

/**
 * Each event makes a request to each webhook that wants it; a batched webhook gets the events of 50 ms (at most 100, or
 * 256 KB) together. A 2xx is a success; anything else is tried again after 1 to 60 s for 5 minutes. Each webhook has a
 * queue of its own of up to 10,000 requests or 4 MB, which drops its oldest when it is full.
 *
 * Delivery is at least once: the customer may see a batch twice, when the answer was lost or the process ended before
 * it came. A batch is in the spool before its first attempt, so of what happened before a kill of the process no more is
 * lost than the batched events of the last 50 ms and departures that are held back. The next process knows none of the
 * former connections. It reports no departure of a client that does not return, and an arrival of a client that does. A
 * power cut may lose some seconds. An orderly end loses nothing.
 */
export class Webhooks implements ApplicationEvents {
  /** Batches and attempts. */
  readonly counters: Readonly<WebhookCounters>;
  readonly #delivery: Delivery;
  readonly #departures: Departures<Departure>;
  #webhooks = new Map<string, Webhook>();
  /** The events that at least one webhook wants; any other event costs no more than a look in here. */
  #wanted = new Set<WebhookEventType>();
  #hasResumed = false;
  #cancelFlush: (() => void) | null = null;
  #closed = false;

  constructor(options: WebhooksOptions) {
    const { clock = systemClock, credentials, allowPrivate, resolve, debug = () => null } = options;
    const log = options.log.child({ application: options.applicationId });
    const { counters = { delivered: 0, failed: 0, dropped: 0 } } = options;
    this.counters = counters;
    this.#delivery = {
      sender: new Sender({ allowPrivate, clock, ...(resolve && { resolve }) }),
      places: new Places(MAX_IN_FLIGHT),
      spool: new Spool(options.spoolFile, log),
      counters,
      waiting: options.waiting,
      credentials,
      debug,
      clock,
      log,
    };
    const emit = ({ event }: Departure) => this.#emit(event);
    const { heldDepartures: inCluster } = options;
    this.#departures = new Departures({ clock, holdMs: DEPARTURE_MS, inCluster, emit });
  }

  /**
   * Sets the webhooks from now on. A webhook is known by its URL: a change of its types or filter concerns later
   * events, and the unsent events of a removed webhook are dropped. The first call goes on with the batches that an
   * earlier process had not delivered.
   */
  configure(webhooks: WebhookConfig[]): void {
    if (this.#closed) return;
    const former = this.#webhooks;
    this.#webhooks = new Map();
    for (const config of webhooks) {
      const key = this.#freeKey(config.url);
      const webhook = former.get(key) ?? new Webhook(key, config, this.#delivery);
      webhook.configure(config);
      this.#webhooks.set(key, webhook);
      former.delete(key);
    }
    for (const webhook of former.values()) webhook.discard();
    this.#wanted = new Set(webhooks.flatMap((each) => each.eventTypes));
    this.#resumeKept();
  }

  /**
   * Takes no more events, reports departures that were held back, waits up to 1 s for answers, and leaves undelivered
   * batches in the spool. Without such batches no file is left.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#departures.flush();
    this.#flush();
    this.#closed = true;
    this.#wanted.clear();
    const all = Array.from(this.#webhooks.values());
    const cancel = this.#delivery.clock.after(CLOSE_GRACE_MS, () => {
      for (const { queue } of all) queue.stop();
    });
    await Promise.all(all.map(({ queue }) => queue.close()));
    cancel();
    this.#delivery.sender.close();
    this.#delivery.spool.close();
  }

  channelOccupied(channel: string): void {
    if (!this.#wantsAny("channel_occupied", "channel_vacated")) return;
    if (this.#departures.takeBack(channel) !== undefined) return;
    this.#emit({ name: "channel_occupied", channel });
  }

  channelVacated(channel: string): void {
    if (!this.#wantsAny("channel_occupied", "channel_vacated")) return;
    this.#departures.leave(channel, { event: { name: "channel_vacated", channel } });
  }

  memberAdded(channel: string, userId: string): void {
    if (!this.#wantsAny("member_added", "member_removed")) return;
    if (this.#departures.takeBack(memberKey(channel, userId)) !== undefined) return;
    this.#emit({ name: "member_added", channel, user_id: userId });
  }

  memberRemoved(channel: string, userId: string): void {
    if (!this.#wantsAny("member_added", "member_removed")) return;
    const event: WebhookEvent = { name: "member_removed", channel, user_id: userId };
    this.#departures.leave(memberKey(channel, userId), { event });
  }

  clientEvent({ channel, event, data, socketId, userId }: ClientEvent): void {
    if (!this.#wanted.has("client_event")) return;
    this.#emit({ name: "client_event", channel, event, data, socket_id: socketId, user_id: userId });
  }

  cacheMiss(channel: string): void {
    if (!this.#wanted.has("cache_miss")) return;
    this.#emit({ name: "cache_miss", channel });
  }

  subscriptionCount(channel: string, count: number, formerCount: number): void {
    if (!this.#wanted.has("subscription_count")) return;
    const event: WebhookEvent = { name: "subscription_count", channel, subscription_count: count };
    if (count === 0) return this.#departures.leave(countKey(channel), { event, formerCount });
    const departure = this.#departures.takeBack(countKey(channel));
    if (departure?.formerCount !== count) this.#emit(event);
  }

  /** Departures are held back also for webhooks that want arrivals alone: a reconnect is no arrival. */
  #wantsAny(arrival: WebhookEventType, departure: WebhookEventType): boolean {
    return this.#wanted.has(arrival) || this.#wanted.has(departure);
  }

  #emit(event: WebhookEvent): void {
    let text: string | null = null;
    for (const webhook of this.#webhooks.values()) {
      if (!webhook.wants(event.name, event.channel)) continue;
      text ??= JSON.stringify(event);
      webhook.take(text);
    }
    if (text !== null) this.#cancelFlush ??= this.#delivery.clock.after(BATCH_MS, () => this.#flush());
  }

  #flush(): void {
    this.#cancelFlush?.();
    this.#cancelFlush = null;
    for (const webhook of this.#webhooks.values()) webhook.flush();
  }

  /** The URL, and a number behind it where the same URL occurs more than once. */
  #freeKey(url: string): string {
    let key = url;
    for (let count = 2; this.#webhooks.has(key); count += 1) key = `${url} ${count}`;
    return key;
  }

  #resumeKept(): void {
    if (this.#hasResumed) return;
    this.#hasResumed = true;
    for (const batch of this.#delivery.spool.load()) {
      const webhook = this.#webhooks.get(batch.webhook);
      if (webhook === undefined) this.#delivery.spool.remove(batch);
      else webhook.resume(batch);
    }
  }
}

/** No channel's name has a space, so this key is never the key of a channel. */
function memberKey(channel: string, userId: string): string {
  return `${channel} ${userId}`;
}

/** Nor is this key that of a member, whose user id is not empty. */
function countKey(channel: string): string {
  return `${channel} `;
}
