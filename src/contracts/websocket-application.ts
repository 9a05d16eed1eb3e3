// A WebSocket application, in the spec of its cluster and in the configuration of the realtime server.
import * as z from "zod/mini";

/** The most that an application can allow its clients as `maxMessageBytes`. */
export const MAX_MESSAGE_BYTES = 100_000;

const positive = z.int().check(z.positive());

export const webhookEventTypes = [
  "channel_occupied",
  "channel_vacated",
  "member_added",
  "member_removed",
  "client_event",
  "cache_miss",
  "subscription_count",
] as const;

const webhookEventTypeSchema = z.enum(webhookEventTypes);

/** The events that a webhook can report. */
export type WebhookEventType = z.infer<typeof webhookEventTypeSchema>;

const webhookSchema = z.strictObject({
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

/** An address to which a realtime server reports events. */
export type Webhook = z.infer<typeof webhookSchema>;

/** A signing secret, in clear. */
const secretSchema = z.strictObject({
  secret: z.string(),
  /** ISO 8601; null never expires. */
  expiresAt: z.nullable(z.string()),
});

const settingsSchema = z.strictObject({
  /** Empty allows every origin. */
  allowedOrigins: z.array(z.string()),
  /** How long a connection may be silent before the server pings it. */
  pingIntervalSeconds: positive,
  /** How long a client stays silent before it pings the server. */
  activityTimeoutSeconds: positive,
  maxMessageBytes: positive,
  clientEventsEnabled: z.boolean(),
  subscriptionCountEnabled: z.boolean(),
  webhooks: z.array(webhookSchema),
});

/** What a customer sets of an application. */
export type WebSocketSettings = z.infer<typeof settingsSchema>;

/** The settings of an application of which a customer set nothing. */
export const DEFAULT_WEBSOCKET_SETTINGS: WebSocketSettings = {
  allowedOrigins: [],
  pingIntervalSeconds: 60,
  activityTimeoutSeconds: 30,
  maxMessageBytes: 10_000,
  clientEventsEnabled: true,
  subscriptionCountEnabled: false,
  webhooks: [],
};

export const webSocketApplicationSchema = z.strictObject({
  /** The resource's id. */
  id: z.string(),
  /** Digits, as in the URLs of the protocol. */
  appId: z.string(),
  key: z.string(),
  /**
   * The first secret signs; the others were rotated out and are valid until they expire. They are in clear, since the
   * check of a signature needs them, so only its own user may read a file that has an application.
   */
  secrets: z.array(secretSchema),
  /** Its part of the connections of its cluster. */
  maxConnections: z.int().check(z.nonnegative()),
  ...settingsSchema.shape,
});

/** An application of a realtime server, whose changes take effect while the server runs. */
export type WebSocketApplication = z.infer<typeof webSocketApplicationSchema>;
