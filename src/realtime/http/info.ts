// The `info` parameter: the attributes of a channel that a client asks for.
import type { ChannelKind } from "../protocol/channel-name.ts";
import { HttpError } from "./answer.ts";
import type { HttpApplication, HttpChannel } from "./target.ts";

export type Attribute = "user_count" | "subscription_count" | "cache";

/** Attributes that every list of channels can have. */
export const COUNTS: readonly Attribute[] = ["user_count", "subscription_count"];
/** Attributes of a single channel. */
export const ALL_ATTRIBUTES: readonly Attribute[] = [...COUNTS, "cache"];

export type Attributes = Partial<Record<Attribute, unknown>>;

/**
 * Reads a comma separated list; without a list, no attribute is wanted.
 * @throws HttpError 400 when the list names an unknown attribute.
 */
export function parseInfo(text: string | undefined, known: readonly Attribute[]): ReadonlySet<Attribute> {
  const wanted = new Set<Attribute>();
  if (text === undefined || text === "") return wanted;
  for (const part of text.split(",")) {
    const attribute = known.find((name) => name === part.trim());
    if (attribute === undefined) {
      throw new HttpError(
        400,
        `info should be a comma separated list of attributes (known ones are ${known.join(", ")})`,
      );
    }
    wanted.add(attribute);
  }
  return wanted;
}

/** The wanted counts of a channel, occupied or not; only presence channels count users. */
export function countsOf(
  channel: HttpChannel | undefined,
  kind: ChannelKind,
  wanted: ReadonlySet<Attribute>,
): Attributes {
  const counts: Attributes = {};
  if (wanted.has("user_count") && kind.isPresence) counts.user_count = channel?.userCount ?? 0;
  if (wanted.has("subscription_count")) counts.subscription_count = channel?.subscriptionCount ?? 0;
  return counts;
}

/** The event that a cache channel would send to a new subscriber, or null. */
export function cacheOf(application: HttpApplication, channel: string): { data: string; ttl: number } | null {
  const event = application.lastEvent(channel);
  return event === undefined ? null : { data: event.data, ttl: event.ttlSeconds };
}
