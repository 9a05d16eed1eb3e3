// The questions about channels: which channels are occupied, and which users are on them.
import { type ChannelKind, channelKindOf } from "../protocol/channel-name.ts";
import { jsonAnswer, HttpError } from "./answer.ts";
import { ALL_ATTRIBUTES, type Attributes, cacheOf, COUNTS, countsOf, parseInfo } from "./info.ts";
import type { Query } from "./query.ts";
import type { HttpApplication } from "./target.ts";

/**
 * The occupied channels. A signed-in user's own channel is left out unless the filter asks for it.
 * @throws HttpError 400 when the attributes do not fit the filter.
 */
export function listChannels(application: HttpApplication, query: Query): Response {
  const prefix = query.get("filter_by_prefix") ?? "";
  const wanted = parseInfo(query.get("info"), COUNTS);
  if (wanted.has("user_count") && !prefix.startsWith("presence-")) {
    const hint = "please supply filter_by_prefix begining with presence-";
    throw new HttpError(400, `user_count may only be requested for presence channels - ${hint}`);
  }
  // Without a prototype, so that a channel may be named __proto__.
  const channels: Record<string, Attributes> = Object.create(null);
  for (const channel of application.channels()) {
    const isListed = channel.kind.userId === null || prefix.startsWith("#");
    if (isListed && channel.name.startsWith(prefix))
      channels[channel.name] = countsOf(channel, channel.kind, wanted);
  }
  return jsonAnswer(JSON.stringify({ channels }));
}

/**
 * Whether a channel is occupied, with the wanted attributes.
 * @throws HttpError 400 when no channel can have the name, or a channel of its kind has no such attribute.
 */
export function describeChannel(application: HttpApplication, name: string, query: Query): Response {
  const kind = kindOf(name);
  const wanted = parseInfo(query.get("info"), ALL_ATTRIBUTES);
  if (wanted.has("user_count") && !kind.isPresence) {
    throw new HttpError(400, "Cannot retrieve the user count unless the channel is a presence channel");
  }
  if (wanted.has("cache") && !kind.isCache) {
    throw new HttpError(400, "Cannot retrieve the cache unless the channel is a cache channel");
  }
  const channel = application.channel(name);
  const attributes = countsOf(channel, kind, wanted);
  if (wanted.has("cache")) attributes.cache = cacheOf(application, name);
  return jsonAnswer(JSON.stringify({ occupied: channel !== undefined, ...attributes }));
}

/**
 * The users on a presence channel, each once.
 * @throws HttpError 400 when the channel is not a presence channel.
 */
export function listUsers(application: HttpApplication, name: string): Response {
  if (!kindOf(name).isPresence) throw new HttpError(400, "Users can only be retrieved for presence channels");
  const members = application.channel(name)?.members.keys() ?? [];
  const users = Array.from(members, (id) => ({ id }));
  return jsonAnswer(JSON.stringify({ users }));
}

function kindOf(name: string): ChannelKind {
  const kind = channelKindOf(name);
  if (kind === null) throw new HttpError(400, `Invalid channel name: ${JSON.stringify(name)}`);
  return kind;
}
