// Events that a client sends to the other subscribers of a channel.
import type { Connection } from "./connection.ts";
import { channelKindOf } from "./protocol/channel-name.ts";
import { eventFrame } from "./protocol/frames.ts";
import { memberText } from "./protocol/member-text.ts";
import type { Message } from "./protocol/messages.ts";

type ClientEvent = Extract<Message, { kind: "client-event" }>;

/** The error code for a client that sends too much; the connection stays. */
const RATE_LIMITED = 4301;

/** Passes a client's event on to the other subscribers of its channel, or sends the client the reason for a refusal. */
export function relayClientEvent(connection: Connection, message: ClientEvent): void {
  const { event, channel: name } = message;
  const { application } = connection;
  const fault = faultOf(connection, name);
  if (fault !== null) return connection.complain(fault);
  if (!connection.takeEvent())
    return connection.complain("Client event rejected - the rate limit was exceeded", RATE_LIMITED);
  const channel = application.channel(name);
  if (channel === undefined) return;
  const userId = connection.channels.get(name) ?? undefined;
  const text = textOf(message);
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
 * The data as receivers get it, which is a text as in every event: of any other value it is the JSON that the client wrote.
 * @returns undefined when there is no data, and null for a value that is nested too deeply.
 */
function textOf({ data, frame }: ClientEvent): string | undefined | null {
  return data === undefined || typeof data === "string" ? data : memberText(frame, "data");
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
