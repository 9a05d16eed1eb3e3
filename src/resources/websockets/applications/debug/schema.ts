// The shapes of what a watcher of a WebSocket application gets, and of an event that is published to try it.
import { z } from "zod";
import {
  CHANNEL_NAME,
  ENCRYPTED,
  MAX_CHANNEL_NAME_LENGTH,
  MAX_EVENT_DATA_BYTES,
  MAX_EVENT_NAME_LENGTH,
  SERVER_TO_USER,
} from "../../../../contracts/channel-name.ts";

/** Whether an application can be watched: what happens while its cluster does not run is not reported. */
const watchStates = ["running", "starting", "asleep", "unavailable"] as const;

export type WatchState = (typeof watchStates)[number];

const at = z.iso.datetime();
const channel = z.string();
const socketId = z.string();
const userId = z.string().nullable();
const subscriptions = z.int();
const payload = { event: z.string(), data: z.string(), data_bytes: z.int() };
const webhook = { at, host: z.string(), events: z.int() };

/** A message of the stream: what happened in the application, its state, or how much was left out. */
const debugEvent = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("state"), at, state: z.enum(watchStates) }),
    z.object({ type: z.literal("omitted"), at, count: z.int() }),
    z.object({ type: z.literal("connected"), at, socket_id: socketId, origin: z.string().nullable() }),
    z.object({ type: z.literal("disconnected"), at, socket_id: socketId, subscriptions }),
    z.object({
      type: z.literal("subscribed"),
      at,
      socket_id: socketId,
      channel,
      user_id: userId,
      subscriptions,
    }),
    z.object({ type: z.literal("unsubscribed"), at, socket_id: socketId, channel, subscriptions }),
    z.object({ type: z.enum(["channel_occupied", "channel_vacated"]), at, channel }),
    z.object({ type: z.enum(["member_added", "member_removed"]), at, channel, user_id: z.string() }),
    z.object({
      type: z.literal("client_event"),
      at,
      socket_id: socketId,
      channel,
      user_id: userId,
      ...payload,
    }),
    z.object({ type: z.literal("published"), at, channel, subscriptions, ...payload }),
    z.object({
      type: z.literal("refused"),
      at,
      socket_id: socketId.nullable(),
      channel: channel.nullable(),
      code: z.int().nullable(),
      reason: z.string(),
    }),
    z.object({ type: z.enum(["webhook_sent", "webhook_dropped"]), ...webhook }),
    z.object({ type: z.literal("webhook_failed"), ...webhook, reason: z.string() }),
  ])
  .meta({ id: "WebsocketDebugEvent" });

export type WebsocketDebugEvent = z.output<typeof debugEvent>;

/** The query of `GET /websocket-applications/:id/debug`. */
export const debugQuery = z.object({
  follow: z.enum(["", "1", "true"]).optional().meta({
    description: "Keeps the answer open, and sends what happens from now on as Server-Sent Events.",
    example: "true",
  }),
});

/** The answer without `follow`. */
export const debugDocument = z
  .object({
    data: z.object({
      state: z.enum(watchStates).meta({
        description: "`running` reports what happens; no watcher wakes a cluster.",
        example: "running",
      }),
      watchers: z.int().min(0).meta({ description: "How many watch the application now.", example: 1 }),
      max_watchers: z.int().min(1).meta({ description: "How many may.", example: 10 }),
      events_per_second: z.int().min(1).meta({
        description: "How many events are reported in a second; of those beyond it the number is reported.",
        example: 50,
      }),
    }),
  })
  .meta({ id: "WebsocketDebug" });

/** The body of `POST /websocket-applications/:id/debug/events`, as in the protocol's own HTTP API. */
export const testEvent = z
  .object({
    channel: z
      .string()
      .min(1)
      .max(MAX_CHANNEL_NAME_LENGTH)
      .refine(isChannelName, "must have letters, digits and -_=@,.; only")
      .refine(
        (name) => !name.startsWith(ENCRYPTED),
        "must not be an encrypted channel, whose key only your servers have",
      )
      .meta({ description: "Where the event is published.", example: "news" }),
    name: z.string().min(1).max(MAX_EVENT_NAME_LENGTH).meta({
      description: "The name of the event.",
      example: "greeting",
    }),
    data: z
      .string()
      .refine(
        (data) => Buffer.byteLength(data) <= MAX_EVENT_DATA_BYTES,
        `must have at most ${MAX_EVENT_DATA_BYTES} bytes`,
      )
      .default("{}")
      .meta({ description: "Passed on unchanged; JSON as a rule.", example: '{"text":"hello"}' }),
  })
  .meta({ id: "WebsocketTestEvent" });

export type WebsocketTestEvent = z.output<typeof testEvent>;
/** The body as clients send it, without the defaults. */
export type WebsocketTestEventBody = z.input<typeof testEvent>;

/** The answer to a published event. */
export const publishedDocument = z
  .object({
    data: z.object({
      channel: z.string().meta({ example: "news" }),
      name: z.string().meta({ example: "greeting" }),
      subscription_count: z
        .int()
        .min(0)
        .meta({ description: "How many subscribers the channel had.", example: 3 }),
    }),
  })
  .meta({ id: "WebsocketPublishedEvent" });

export type WebsocketPublishedEvent = z.output<typeof publishedDocument>;

function isChannelName(name: string): boolean {
  if (name.startsWith(SERVER_TO_USER)) return name.length > SERVER_TO_USER.length;
  return CHANNEL_NAME.test(name);
}
