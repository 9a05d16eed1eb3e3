// Reads the frames of clients: every frame becomes one of a few messages, or a fault that is sent to the client.
import { MAX_EVENT_NAME_LENGTH } from "../../contracts/channel-name.ts";

/** The request of a client. */
export type Message =
  | { kind: "ping" }
  | { kind: "pong" }
  | { kind: "subscribe"; channel: string; auth: unknown; channelData: string | undefined }
  | { kind: "unsubscribe"; channel: string }
  | { kind: "signin"; auth: unknown; userData: string }
  /** @property frame the JSON that has the event, as the client wrote it. */
  | { kind: "client-event"; event: string; channel: string; data: unknown; frame: string }
  | { kind: "fault"; text: string };

const PING: Message = { kind: "ping" };
const PONG: Message = { kind: "pong" };

/** Never throws: every frame of a client has an answer. */
export function readMessage(text: string): Message {
  const frame = parsed(text);
  if (!isObject(frame)) return fault("Invalid message: expected a JSON object");
  const { event } = frame;
  if (typeof event !== "string" || event === "") return fault("Invalid message: event must be a text");
  if (event.startsWith("client-")) return clientEvent(event, frame, text);
  switch (event) {
    case "pusher:ping":
      return PING;
    case "pusher:pong":
      return PONG;
    case "pusher:subscribe":
      return subscribe(dataOf(frame));
    case "pusher:unsubscribe":
      return unsubscribe(dataOf(frame));
    case "pusher:signin":
      return signin(dataOf(frame));
    default:
      return fault(
        event.startsWith("pusher")
          ? `Unknown event ${event.slice(0, MAX_EVENT_NAME_LENGTH)}`
          : "Client event rejected - client events must be prefixed by 'client-'",
      );
  }
}

function subscribe(data: Record<string, unknown>): Message {
  const { channel, auth, channel_data: channelData } = data;
  if (typeof channel !== "string") return fault("Invalid subscription: channel must be a text");
  if (channelData !== undefined && channelData !== null && typeof channelData !== "string")
    return fault("Invalid subscription: channel_data must be a text");
  return { kind: "subscribe", channel, auth, channelData: channelData ?? undefined };
}

function unsubscribe({ channel }: Record<string, unknown>): Message {
  if (typeof channel !== "string") return fault("Invalid message: channel must be a text");
  return { kind: "unsubscribe", channel };
}

function signin({ auth, user_data: userData }: Record<string, unknown>): Message {
  // Without user data there is nothing to sign, so the signature cannot be right either.
  return { kind: "signin", auth, userData: typeof userData === "string" ? userData : "" };
}

function clientEvent(event: string, { channel, data }: Record<string, unknown>, frame: string): Message {
  if (typeof channel !== "string") return fault("Client event rejected - channel must be a text");
  if (event.length > MAX_EVENT_NAME_LENGTH)
    return fault(`Client event rejected - the name is longer than ${MAX_EVENT_NAME_LENGTH} characters`);
  return { kind: "client-event", event, channel, data, frame };
}

/** Some clients send their data as a JSON text. */
function dataOf({ data }: Record<string, unknown>): Record<string, unknown> {
  const value = typeof data === "string" ? parsed(data) : data;
  return isObject(value) ? value : {};
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fault(text: string): Message {
  return { kind: "fault", text };
}
