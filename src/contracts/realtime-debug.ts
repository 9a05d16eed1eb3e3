// What a realtime server reports of an application while it is watched: one JSON object a line.
import * as z from "zod/mini";
import { MAX_CHANNEL_NAME_LENGTH } from "./channel-name.ts";

/** The most characters of an event's data in a report. */
export const MAX_DEBUG_DATA_LENGTH = 1_024;
/** The most characters of any other text in a report. */
export const MAX_DEBUG_TEXT_LENGTH = 256;
/** How many reports of an application come in a second; a burst may have twice as many. */
export const DEBUG_EVENTS_PER_SECOND = 50;

const at = z.iso.datetime();
const text = z.string().check(z.maxLength(MAX_DEBUG_TEXT_LENGTH));
const channel = z.string().check(z.maxLength(MAX_CHANNEL_NAME_LENGTH));
const count = z.int().check(z.nonnegative());
const socketId = text;
const userId = z.nullable(text);
const payload = {
  event: text,
  /** The size of the whole data, in bytes. */
  dataBytes: count,
  /** The beginning of the data. */
  data: z.string().check(z.maxLength(MAX_DEBUG_DATA_LENGTH)),
};
/** The host of a webhook's URL, whose path and query may hold secrets. */
const host = text;

export const debugEventSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("connected"), at, socketId, origin: z.nullable(text) }),
  z.strictObject({ type: z.literal("disconnected"), at, socketId, subscriptions: count }),
  z.strictObject({ type: z.literal("subscribed"), at, socketId, channel, userId, subscriptions: count }),
  z.strictObject({ type: z.literal("unsubscribed"), at, socketId, channel, subscriptions: count }),
  z.strictObject({ type: z.enum(["channelOccupied", "channelVacated"]), at, channel }),
  z.strictObject({ type: z.enum(["memberAdded", "memberRemoved"]), at, channel, userId: text }),
  z.strictObject({ type: z.literal("clientEvent"), at, socketId, channel, userId, ...payload }),
  /** `subscriptions`: how many subscribers the channel had. */
  z.strictObject({ type: z.literal("published"), at, channel, subscriptions: count, ...payload }),
  /** A message or a subscription of a client was refused; `code` is that of the error or of the close frame. */
  z.strictObject({
    type: z.literal("refused"),
    at,
    /** Null for a client that was not let in. */
    socketId: z.nullable(text),
    channel: z.nullable(channel),
    code: z.nullable(z.int()),
    reason: text,
  }),
  z.strictObject({ type: z.literal("webhookSent"), at, host, events: count }),
  z.strictObject({ type: z.literal("webhookFailed"), at, host, events: count, reason: text }),
  z.strictObject({ type: z.literal("webhookDropped"), at, host, events: count }),
  /** So many reports were left out, since more came than are sent. */
  z.strictObject({ type: z.literal("omitted"), at, count }),
  /** The first report: what happens from here on is reported. */
  z.strictObject({ type: z.literal("watching"), at }),
]);

/** What happened in an application. */
export type DebugEvent = z.infer<typeof debugEventSchema>;
