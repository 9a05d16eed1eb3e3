// The frames that a server sends. `data` is a text that itself is JSON, as clients of protocol 5 and later expect.

/** The answer to `pusher:ping`. */
export const PONG = '{"event":"pusher:pong","data":"{}"}';

/** Pings a silent client. */
export const PING = '{"event":"pusher:ping","data":"{}"}';

/** The first frame of every connection. @param activityTimeoutSeconds after how much silence the client must ping. */
export function connectionEstablished(socketId: string, activityTimeoutSeconds: number): string {
  const data = `{\\"socket_id\\":\\"${socketId}\\",\\"activity_timeout\\":${activityTimeoutSeconds}}`;
  return `{"event":"pusher:connection_established","data":"${data}"}`;
}

/** An error; with a code from 4000, the connection is closed or a single event was refused. */
export function errorFrame(code: number | null, message: string): string {
  return JSON.stringify({ event: "pusher:error", data: { code, message } });
}

/** Confirms a subscription, on presence channels with all members. */
export function subscriptionSucceeded(channel: string, presence?: PresenceData): string {
  const data = presence === undefined ? "{}" : JSON.stringify({ presence });
  return frame("pusher_internal:subscription_succeeded", channel, data);
}

/** All members of a presence channel, each user once. */
export interface PresenceData {
  count: number;
  ids: string[];
  hash: Record<string, unknown>;
}

/** Refuses a subscription. */
export function subscriptionError(channel: string, type: string, error: string, status: number): string {
  return JSON.stringify({ event: "pusher:subscription_error", channel, data: { type, error, status } });
}

/** Notifies the others on a presence channel of a new member. */
export function memberAdded(channel: string, userId: string, userInfo: unknown): string {
  const data = JSON.stringify({ user_id: userId, user_info: userInfo });
  return frame("pusher_internal:member_added", channel, data);
}

/** Notifies the others on a presence channel of a member that left. */
export function memberRemoved(channel: string, userId: string): string {
  return frame("pusher_internal:member_removed", channel, JSON.stringify({ user_id: userId }));
}

/** Sends subscribers their number. */
export function subscriptionCount(channel: string, count: number): string {
  return frame("pusher_internal:subscription_count", channel, JSON.stringify({ subscription_count: count }));
}

/** Notifies a new subscriber of a cache channel that there is no last event. */
export function cacheMiss(channel: string): string {
  return JSON.stringify({ event: "pusher:cache_miss", channel });
}

/** Confirms a sign-in. @param userData as it came. */
export function signinSuccess(userData: string): string {
  return JSON.stringify({ event: "pusher:signin_success", data: JSON.stringify({ user_data: userData }) });
}

/** Notifies a watcher of users that came or went. */
export function watchlistEvents(events: { name: "online" | "offline"; user_ids: string[] }[]): string {
  return JSON.stringify({ event: "pusher_internal:watchlist_events", data: JSON.stringify({ events }) });
}

/**
 * An event of the application or of a client; without `data` the frame has no data.
 * @param userId the sender's, for a client event on a presence channel.
 */
export function eventFrame(channel: string, name: string, data: string | undefined, userId?: string): string {
  return userId === undefined
    ? JSON.stringify({ event: name, channel, data })
    : JSON.stringify({ event: name, channel, data, user_id: userId });
}

function frame(event: string, channel: string, data: string): string {
  return JSON.stringify({ event, channel, data });
}
