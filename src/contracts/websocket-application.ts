// A WebSocket application, as the spec of its cluster has it and as the realtime server is told it.
import * as z from "zod/mini";

const positive = z.int().check(z.positive());

export const webhookEventTypeSchema = z.enum([
  "channel_occupied",
  "channel_vacated",
  "member_added",
  "member_removed",
  "client_event",
  "cache_miss",
  "subscription_count",
]);

/** What a webhook can report. */
export type WebhookEventType = z.infer<typeof webhookEventTypeSchema>;

export const webhookSchema = z.strictObject({
  url: z.string(),
  eventTypes: z.array(webhookEventTypeSchema),
  /** Whether a request may have several events. */
  isBatched: z.boolean(),
  filter: z.exactOptional(
    z.strictObject({
      channelNameStartsWith: z.exactOptional(z.string()),
      channelNameEndsWith: z.exactOptional(z.string()),
    }),
  ),
});

/** An address that a realtime server reports events to. */
export type Webhook = z.infer<typeof webhookSchema>;

const secretSchema = z.strictObject({
  secret: z.string(),
  /** ISO 8601; null is good for ever. */
  expiresAt: z.nullable(z.string()),
});

/** A secret that signs, in clear. */
export type ApplicationSecret = z.infer<typeof secretSchema>;

export const webSocketApplicationSchema = z.strictObject({
  /** The resource's id. */
  id: z.string(),
  /** Digits, as the URLs of the protocol have it. */
  appId: z.string(),
  key: z.string(),
  /**
   * The first secret signs; the others were rotated out and are good until they expire. They are in clear, since a signature cannot be
   * checked without them; whatever keeps an application must be readable by its own user alone.
   */
  secrets: z.array(secretSchema),
  /** Empty allows every origin. */
  allowedOrigins: z.array(z.string()),
  /** How long a connection may be silent before the server asks whether it is alive. */
  pingIntervalSeconds: positive,
  /** How long a client waits in silence before it asks the server. */
  activityTimeoutSeconds: positive,
  maxMessageBytes: positive,
  maxConnections: z.int().check(z.nonnegative()),
  clientEventsEnabled: z.boolean(),
  subscriptionCountEnabled: z.boolean(),
  webhooks: z.array(webhookSchema),
});

/** An application of a realtime server, which takes changes over while it runs. */
export type WebSocketApplication = z.infer<typeof webSocketApplicationSchema>;
