// One application of a cluster: its connections, channels and users, and the events that are published in it.
import { isDeepStrictEqual } from "node:util";
import { Channel } from "./channel.ts";
import type { ClientBudget } from "./client-budget.ts";
import type { WebSocketApplication } from "../contracts/websocket-application.ts";
import type { Connection } from "./connection.ts";
import type { Counters } from "./counters.ts";
import { DebugTap, type DebugWatcher } from "./debug/tap.ts";
import type { ApplicationEvents } from "./events.ts";
import { LastEvents } from "./last-events.ts";
import { channelKindOf, type ChannelKind } from "./protocol/channel-name.ts";
import { ORIGIN_REFUSED } from "./protocol/close-codes.ts";
import { eventFrame, subscriptionCount } from "./protocol/frames.ts";
import { COUNT_THRESHOLD, LARGE_COUNT_INTERVAL_MS, SMALL_COUNT_INTERVAL_MS } from "./protocol/limits.ts";
import { AllowedOrigins } from "./protocol/origins.ts";
import type { ReportedMisses } from "./reported-misses.ts";
import type { SharedCount } from "./shared-count.ts";
import type { Publish } from "./transport.ts";
import { Users } from "./users.ts";

/** The parts of an application that its cluster gives it. */
interface ApplicationParts extends SharedParts {
  publish: Publish;
  events: ApplicationEvents;
  counters: Counters;
}

/** Shared by all applications of the cluster. */
export interface SharedParts {
  clientBudget: ClientBudget;
  /** The occupied channels. */
  clusterChannels: SharedCount;
  reportedMisses: ReportedMisses;
}

export class Application {
  readonly events: ApplicationEvents;
  readonly users = new Users();
  readonly connections = new Map<string, Connection>();
  readonly counters: Counters;
  readonly clientBudget: ClientBudget;
  readonly clusterChannels: SharedCount;
  /** Null while nobody watches, so that an event then costs no more than this question. */
  debug: DebugTap | null = null;
  readonly #lastEvents = new LastEvents();
  readonly #reportedMisses: ReportedMisses;
  readonly #publish: Publish;
  readonly #channels = new Map<string, Channel>();
  #config: WebSocketApplication;
  #allowedOrigins: AllowedOrigins;
  #secrets: readonly string[] = [];
  /** When the next secret expires, in milliseconds. */
  #secretsChangeAt = 0;

  constructor(config: WebSocketApplication, parts: ApplicationParts) {
    this.#config = config;
    this.#allowedOrigins = new AllowedOrigins(config.allowedOrigins);
    this.#publish = parts.publish;
    this.events = parts.events;
    this.counters = parts.counters;
    this.clientBudget = parts.clientBudget;
    this.clusterChannels = parts.clusterChannels;
    this.#reportedMisses = parts.reportedMisses;
  }

  get config(): WebSocketApplication {
    return this.#config;
  }

  /** The secrets that are valid now, the signing secret first. */
  validSecrets(): readonly string[] {
    const now = Date.now();
    if (now < this.#secretsChangeAt) return this.#secrets;
    const expiries = this.#config.secrets.map(({ secret, expiresAt }) => ({
      secret,
      expiresAt: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    }));
    const valid = expiries.filter(({ expiresAt }) => expiresAt > now);
    this.#secrets = valid.map(({ secret }) => secret);
    this.#secretsChangeAt = Math.min(...valid.map(({ expiresAt }) => expiresAt));
    return this.#secrets;
  }

  /** The key and the secrets that the `auth` of a client must be made with. */
  credentials(): { key: string; secrets: readonly string[] } {
    return { key: this.#config.key, secrets: this.validSecrets() };
  }

  /** Applies another configuration, to open connections as well. */
  configure(config: WebSocketApplication): void {
    const former = this.#config;
    this.#config = config;
    this.#secretsChangeAt = 0;
    if (isDeepStrictEqual(config.allowedOrigins, former.allowedOrigins)) return;
    this.#allowedOrigins = new AllowedOrigins(config.allowedOrigins);
    for (const connection of this.connections.values()) {
      if (!this.allowsOrigin(connection.origin)) connection.closeWith(ORIGIN_REFUSED);
    }
  }

  /** Whether a client may connect. @param origin of its page; null when the client is not a page. */
  allowsOrigin(origin: string | null): boolean {
    return this.#allowedOrigins.includes(origin);
  }

  /** Reports what happens from now on. @returns a function that ends it. */
  watch(watcher: DebugWatcher): () => void {
    const tap = (this.debug ??= new DebugTap());
    tap.add(watcher);
    return () => {
      tap.remove(watcher);
      if (tap.watchers === 0 && this.debug === tap) this.debug = null;
    };
  }

  /** Counts a request of the HTTP API. */
  requested(): void {
    this.counters.requests += 1;
  }

  /** Forgets a closed connection. */
  left(connection: Connection): void {
    this.connections.delete(connection.socketId);
    this.users.remove(connection);
  }

  /** An occupied channel. */
  channel(name: string): Channel | undefined {
    return this.#channels.get(name);
  }

  /** How many channels are occupied. */
  get channelCount(): number {
    return this.#channels.size;
  }

  /** All occupied channels. */
  channels(): Iterable<Channel> {
    return this.#channels.values();
  }

  /** Returns a channel, which is occupied from now on. */
  occupy(name: string, kind: ChannelKind): Channel {
    const known = this.#channels.get(name);
    if (known !== undefined) return known;
    const channel = new Channel(name, kind, this.#inCluster(name));
    this.#channels.set(name, channel);
    this.clusterChannels.count += 1;
    this.debug?.channel("channelOccupied", name);
    this.events.channelOccupied(name);
    return channel;
  }

  /** Forgets a channel that has lost its last subscriber. */
  vacate(channel: Channel): void {
    if (channel.countTimer !== null) clearTimeout(channel.countTimer);
    this.#channels.delete(channel.name);
    this.clusterChannels.count -= 1;
    if (!channel.kind.isPresence) this.events.subscriptionCount(channel.name, 0, channel.reportedCount);
    this.debug?.channel("channelVacated", channel.name);
    this.events.channelVacated(channel.name);
  }

  /** Sends a frame to all subscribers of a channel. */
  broadcast(channel: Channel, frame: string): void {
    this.#publish(channel.topic, frame);
    this.counters.sent += channel.subscriptionCount;
  }

  /**
   * Sends an event to all subscribers of a channel, and remembers it for a cache channel.
   * @param data passed on unchanged.
   * @param exceptSocketId the connection that the event came from, which does not get it.
   */
  publish(channelName: string, name: string, data: string, exceptSocketId?: string): void {
    this.counters.received += 1;
    const channel = this.#channels.get(channelName);
    this.debug?.published(channelName, name, data, channel?.subscriptionCount ?? 0);
    const kind = channel?.kind ?? channelKindOf(channelName);
    if (kind?.isCache === true) {
      this.#lastEvents.set(channelName, name, data);
      this.#reportedMisses.delete(this.#inCluster(channelName));
    }
    if (channel === undefined) return;
    const frame = eventFrame(channelName, name, data);
    const sender = exceptSocketId === undefined ? undefined : this.connections.get(exceptSocketId);
    if (sender?.channels.has(channelName) !== true) return this.broadcast(channel, frame);
    sender.transport.publishToOthers(channel.topic, frame);
    this.counters.sent += channel.subscriptionCount - 1;
  }

  /** The last event of a cache channel, with the seconds for which it is kept. */
  lastEvent(channel: string): { name: string; data: string; ttlSeconds: number } | undefined {
    return this.#lastEvents.get(channel);
  }

  /** Notifies the application that a subscriber of a cache channel found no event, unless it knows. */
  reportMiss(channel: string): void {
    if (this.#reportedMisses.add(this.#inCluster(channel))) this.events.cacheMiss(channel);
  }

  /** Closes the connections of a signed-in user. @returns how many there were. */
  terminateUser(userId: string): number {
    return this.users.terminate(userId);
  }

  /** Sends all subscribers of a channel their number; those of a large channel only from time to time. */
  countChanged(channel: Channel): void {
    if (channel.kind.isPresence || channel.countTimer !== null) return;
    const isLarge = channel.subscriptionCount > COUNT_THRESHOLD;
    const intervalMs = isLarge ? LARGE_COUNT_INTERVAL_MS : SMALL_COUNT_INTERVAL_MS;
    const waitMs = channel.countSentAt + intervalMs - performance.now();
    if (waitMs <= 0) return this.#sendCount(channel);
    channel.countTimer = setTimeout(() => this.#sendCount(channel), waitMs);
  }

  /** The name of a channel among the channels of all applications of the cluster. */
  #inCluster(channel: string): string {
    return `${this.#config.id}/${channel}`;
  }

  #sendCount(channel: Channel): void {
    channel.countTimer = null;
    channel.countSentAt = performance.now();
    const { name, subscriptionCount: count } = channel;
    if (this.#config.subscriptionCountEnabled) this.broadcast(channel, subscriptionCount(name, count));
    this.events.subscriptionCount(name, count, channel.reportedCount);
    channel.reportedCount = count;
  }
}
