// Subscribing and unsubscribing, with the notifications to the other subscribers and to the application.
import type { Channel } from "./channel.ts";
import type { Connection } from "./connection.ts";
import { channelKindOf, type ChannelKind } from "./protocol/channel-name.ts";
import {
  cacheMiss,
  eventFrame,
  memberAdded,
  memberRemoved,
  subscriptionError,
  subscriptionSucceeded,
  type PresenceData,
} from "./protocol/frames.ts";
import {
  MAX_CHANNELS,
  MAX_PRESENCE_MEMBERS,
  MAX_SUBSCRIPTIONS,
  SUBSCRIBES_PER_SECOND,
} from "./protocol/limits.ts";
import { memberOf, type MemberIdentity } from "./protocol/members.ts";
import type { Message } from "./protocol/messages.ts";
import { channelText, isAuthorized } from "./protocol/signatures.ts";

type Subscribe = Extract<Message, { kind: "subscribe" }>;

/** Subscribes a connection, or sends it the reason for a refusal. */
export function subscribe(connection: Connection, message: Subscribe): void {
  const { application, channels } = connection;
  const name = message.channel;
  const kind = application.channel(name)?.kind ?? channelKindOf(name);
  if (kind === null) return refuse(connection, name, "InvalidChannel", "Invalid channel name", 400);
  if (channels.has(name)) return connection.complain(`Existing subscription to channel ${name}`);
  const limit = limitOf(connection, name);
  if (limit !== null) return refuse(connection, name, "LimitReached", limit, 4004);
  if (kind.isPrivate && !isLetIn(connection, kind, message))
    return refuse(connection, name, "AuthError", "The connection is unauthorized.", 401);
  if (!kind.isPresence) {
    connection.send(subscriptionSucceeded(name));
    return join(connection, application.occupy(name, kind), null);
  }
  const member = memberOf(message.channelData, connection.user);
  if (typeof member === "string") return refuse(connection, name, "InvalidMember", member, 400);
  return joinPresence(connection, name, kind, member);
}

/**
 * Unsubscribes a connection; not being subscribed is fine. The limit on subscriptions is enough: a client that was refused
 * here would take itself for unsubscribed.
 */
export function unsubscribe(connection: Connection, name: string): void {
  if (!connection.channels.has(name)) return;
  const channel = connection.application.channel(name);
  if (channel === undefined) return leave(connection, name);
  connection.transport.leave(channel.topic);
  connection.application.debug?.unsubscribed(connection.socketId, name, channel.subscriptionCount - 1);
  leave(connection, name);
}

/** Removes a closed connection from all its channels. */
export function unsubscribeAll(connection: Connection): void {
  for (const name of connection.channels.newestFirst()) leave(connection, name);
}

/** The limit that another subscription exceeds, or null; then it is counted. */
function limitOf(connection: Connection, name: string): string | null {
  const { application, channels } = connection;
  if (channels.size >= MAX_SUBSCRIPTIONS) return `At most ${MAX_SUBSCRIPTIONS} channels a connection`;
  const isNew = application.channel(name) === undefined;
  if (isNew && application.channelCount >= MAX_CHANNELS)
    return `At most ${MAX_CHANNELS} channels an application`;
  const { count, max } = application.clusterChannels;
  if (isNew && count >= max) return `At most ${max} channels a cluster`;
  return connection.takeSubscription() ? null : `At most ${SUBSCRIBES_PER_SECOND} subscriptions a second`;
}

function isLetIn(
  connection: Connection,
  kind: ChannelKind,
  { channel, auth, channelData }: Subscribe,
): boolean {
  // Only the sign-in proves the user of a connection, so no signature opens another user's channel.
  if (kind.userId !== null) return connection.user?.id === kind.userId;
  const text = channelText(connection.socketId, channel, channelData);
  return isAuthorized(auth, connection.application.credentials(), text);
}

function joinPresence(connection: Connection, name: string, kind: ChannelKind, member: MemberIdentity): void {
  const { application } = connection;
  const present = application.channel(name);
  const isThere = present?.members.has(member.userId) ?? false;
  if (!isThere && (present?.userCount ?? 0) >= MAX_PRESENCE_MEMBERS) {
    const text = `The channel has its ${MAX_PRESENCE_MEMBERS} members`;
    return refuse(connection, name, "LimitReached", text, 4004);
  }
  const arrival = isThere ? null : memberAdded(name, member.userId, member.userInfo);
  if (present !== undefined && arrival !== null && !application.clientBudget.takeArrival(present, arrival))
    return refuse(connection, name, "LimitReached", "The members of the channel change too often", 4004);
  const channel = application.occupy(name, kind);
  channel.addMember(member.userId, member.userInfo);
  connection.send(subscriptionSucceeded(name, presenceOf(channel)));
  // Sent before the connection joins, so that only the others get it.
  if (arrival !== null) {
    application.broadcast(channel, arrival);
    application.debug?.member("memberAdded", name, member.userId);
    application.events.memberAdded(name, member.userId);
  }
  join(connection, channel, member.userId);
}

function join(connection: Connection, channel: Channel, userId: string | null): void {
  const { application, transport } = connection;
  transport.join(channel.topic);
  connection.channels.add(channel.name, userId);
  channel.subscriptionCount += 1;
  const { socketId } = connection;
  application.debug?.subscribed({ socketId, channel: channel.name, userId }, channel.subscriptionCount);
  if (channel.kind.isCache) sendLastEvent(connection, channel);
  application.countChanged(channel);
}

function sendLastEvent(connection: Connection, channel: Channel): void {
  const { application } = connection;
  const { name } = channel;
  const last = application.lastEvent(name);
  if (last !== undefined) return connection.send(eventFrame(name, last.name, last.data));
  connection.send(cacheMiss(name));
  application.reportMiss(name);
}

function leave(connection: Connection, name: string): void {
  const { application, channels } = connection;
  const userId = channels.delete(name);
  const channel = application.channel(name);
  if (userId === undefined || channel === undefined) return;
  channel.subscriptionCount -= 1;
  if (userId !== null && channel.removeMember(userId)) {
    const departure = memberRemoved(name, userId);
    application.clientBudget.countDeparture(channel, departure);
    application.broadcast(channel, departure);
    application.debug?.member("memberRemoved", name, userId);
    application.events.memberRemoved(name, userId);
  }
  if (channel.subscriptionCount === 0) return application.vacate(channel);
  application.countChanged(channel);
}

function presenceOf({ members }: Channel): PresenceData {
  // Without a prototype, so that every user id is a member like any other.
  const hash = Object.create(null) as Record<string, unknown>;
  for (const [userId, { info }] of members) hash[userId] = info ?? null;
  return { count: members.size, ids: [...members.keys()], hash };
}

function refuse(connection: Connection, name: string, type: string, text: string, status: number): void {
  const { application, socketId } = connection;
  application.debug?.refused({ socketId, channel: name, code: status }, text);
  connection.send(subscriptionError(name, type, text, status));
}
