// The messages that a subscriber of a channel has to send.
import { channelAuth, userAuth, type Credentials } from "./signatures.ts";

const OF_ONE_USER = "#server-to-user-";

/** Whether only the libraries at both ends can read the events. */
export function isEncrypted(channel: string): boolean {
  return channel.startsWith("private-encrypted-");
}

/**
 * The messages that a client sends, after it has connected, to subscribe to a channel.
 * @param userId the user's id on a presence channel.
 * @returns the messages in their order; each but the last waits for an answer before the next is sent.
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
