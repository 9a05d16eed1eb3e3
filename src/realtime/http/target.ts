// The parts of the server that the HTTP API needs; a cluster and its applications provide them.
import type { ChannelKind } from "../protocol/channel-name.ts";

/** Finds the application that a request's path names. */
export interface HttpTarget {
  applicationByAppId(appId: string): HttpApplication | undefined;
}

export interface HttpApplication {
  readonly config: { readonly key: string };
  /** The secrets that are valid now. */
  validSecrets(): readonly string[];
  /** Counts a request that is signed well. */
  requested(): void;
  /** An occupied channel. */
  channel(name: string): HttpChannel | undefined;
  /** All occupied channels. */
  channels(): Iterable<HttpChannel>;
  /** Sends an event to a channel's subscribers except for one connection; `data` reaches them unchanged. */
  publish(channel: string, name: string, data: string, exceptSocketId?: string): void;
  /** The last event of a cache channel, with the seconds for which it is kept. */
  lastEvent(channel: string): { data: string; ttlSeconds: number } | undefined;
  /** Closes the connections of a signed-in user. @returns how many there were. */
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
