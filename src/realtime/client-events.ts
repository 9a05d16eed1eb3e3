// Events that a client sends to the other subscribers of a channel.
import type { Connection } from "./connection.ts";
import { channelKindOf } from "./protocol/channel-name.ts";
import { eventFrame } from "./protocol/frames.ts";
import type { Message } from "./protocol/messages.ts";

/** The error code for a client that sends too much; the connection stays. */
const RATE_LIMITED = 4301;

/** Passes a client's event on to the other subscribers of its channel, or sends the client the reason for a refusal. */
export function relayClientEvent(
  connection: Connection,
  { event, channel: name, data }: Extract<Message, { kind: "client-event" }>,
): void {
  const { application } = connection;
  const fault = faultOf(connection, name);
  if (fault !== null) return connection.complain(fault);
  if (!connection.takeEvent())
    return connection.complain("Client event rejected - the rate limit was exceeded", RATE_LIMITED);
  const channel = application.channel(name);
  if (channel === undefined) return;
  const userId = connection.channels.get(name) ?? undefined;
  const text = textOf(data);
  if (text === null) return connection.complain("Client event rejected - the data is nested too deeply");
  const frame = eventFrame(name, event, text, userId);
  if (!application.clientBudget.takeEvent(channel, frame))
    return connection.complain("Client event rejected - the channel's clients send too much", RATE_LIMITED);
  connection.transport.publishToOthers(channel.topic, frame);
  application.counters.sent += channel.subscriptionCount - 1;
  const { socketId } = connection;
  application.debug?.clientEvent({ channel: name, socketId, userId: userId ?? null }, event, text ?? "null");
  application.events.clientEvent({
    channel: name,
    event,
    data: text ?? "null",
    socketId,
    ...(userId === undefined ? {} : { userId }),
  });
}

/**
 * The data as receivers get it, which is a text as in every event: any other value becomes JSON.
 * @returns undefined when there is no data, and null for a value that can be read but is nested too deeply to be
 *   written again.
 */
function textOf(data: unknown): string | undefined | null {
  if (data === undefined || typeof data === "string") return data;
  try {
    return JSON.stringify(data);
  } catch {
    return null;
  }
}

function faultOf({ application, channels }: Connection, name: string): string | null {
  if (!application.config.clientEventsEnabled)
    return "To send client events, you must enable this feature for the application (client_events_enabled).";
  const kind = channelKindOf(name);
  if (kind === null || !kind.isPrivate || kind.userId !== null)
    return "Client event rejected - only supported on private and presence channels";
  if (!channels.has(name)) return `No current subscription to channel ${name}, or subscription in progress`;
  return null;
}
