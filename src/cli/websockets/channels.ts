// What the name of a channel asks of those who subscribe to it.
import { channelAuth, userAuth, type Credentials } from "./signatures.ts";

const OF_ONE_USER = "#server-to-user-";

/** Whether only the libraries at both ends can read the events. */
export function isEncrypted(channel: string): boolean {
  return channel.startsWith("private-encrypted-");
}

/**
 * What a client has to send, after it has connected, to hear a channel.
 * @param userId who to be on a presence channel.
 * @returns the messages in their order; each but the last is to be answered before the next.
 */
export function messagesToSubscribe(
  channel: string,
  socketId: string,
  { credentials, userId }: { credentials: Credentials; userId: string },
): string[] {
  if (channel.startsWith(OF_ONE_USER)) {
    const userData = JSON.stringify({ id: channel.slice(OF_ONE_USER.length) });
    const auth = userAuth(credentials, socketId, userData);
    return [message("pusher:signin", { auth, user_data: userData }), subscribe({ channel, auth: "" })];
  }
  if (channel.startsWith("presence-")) {
    const channelData = JSON.stringify({ user_id: userId });
    const auth = channelAuth(credentials, socketId, channel, channelData);
    return [subscribe({ channel, auth, channel_data: channelData })];
  }
  if (channel.startsWith("private-")) {
    return [subscribe({ channel, auth: channelAuth(credentials, socketId, channel) })];
  }
  return [subscribe({ channel })];
}

/** A message of a client. */
export function message(event: string, data: unknown): string {
  return JSON.stringify({ event, data });
}

function subscribe(data: { channel: string; auth?: string; channel_data?: string }): string {
  return message("pusher:subscribe", data);
}
