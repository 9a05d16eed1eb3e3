// What the HTTP API needs of the rest of the server; a cluster and its applications have it.
import type { ChannelKind } from "../protocol/channel-name.ts";

/** Finds the application that a request's path names. */
export interface HttpTarget {
  applicationByAppId(appId: string): HttpApplication | undefined;
}

export interface HttpApplication {
  readonly config: { readonly key: string };
  /** Those that are good now. */
  validSecrets(): readonly string[];
  /** An occupied channel. */
  channel(name: string): HttpChannel | undefined;
  /** All occupied channels. */
  channels(): Iterable<HttpChannel>;
  /** Sends an event to a channel's subscribers but one; `data` reaches them unchanged. */
  publish(channel: string, name: string, data: string, exceptSocketId?: string): void;
  /** The last event of a cache channel, and how long it stays. */
  cachedEvent(channel: string): { data: string; ttlSeconds: number } | undefined;
  /** Closes the connections of a user that signed in, and says how many. */
  terminateUser(userId: string): number;
}

export interface HttpChannel {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly subscriptionCount: number;
  readonly userCount: number;
  /** By user id; on presence channels only. */
  readonly members: ReadonlyMap<string, unknown>;
}
