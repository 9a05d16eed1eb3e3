// The members of a WebSocket application in requests, each with its bounds.
import { z } from "zod";

/** The most applications of a cluster; the smallest cluster then has a connection for each. */
export const MAX_APPLICATIONS = 100;

const MAX_ORIGINS = 100;
const MAX_WEBHOOKS = 10;
const MAX_URL_LENGTH = 2048;
const MAX_CHANNEL_NAME_LENGTH = 200;

export const webhookEventTypes = [
  "channel_occupied",
  "channel_vacated",
  "member_added",
  "member_removed",
  "client_event",
  "cache_miss",
  "subscription_count",
] as const;

const SCHEME = "(?:[A-Za-z][A-Za-z0-9+.-]*://)?";
const HOST = "(?:\\[[0-9A-Fa-f:.]+\\]|(?:\\*\\.)?[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?)";
const PORT = "(?::(?:\\d{1,5}|\\*))?";

const origin = z
  .string()
  .max(255)
  .regex(
    new RegExp(`^(?:\\*|${SCHEME}${HOST}${PORT}/?)$`),
    "must be `*`, or a host such as example.com or *.example.com, with a scheme and a port where those matter",
  );

const channelNamePart = z.string().min(1).max(MAX_CHANNEL_NAME_LENGTH);

const webhook = z
  .object({
    url: z
      .string()
      .max(MAX_URL_LENGTH)
      .refine(isWebhookUrl, "must be a URL that begins with http:// or https://, without a user name")
      .meta({ format: "uri", example: "https://example.com/webhooks" }),
    event_types: z
      .array(z.enum(webhookEventTypes))
      .min(1)
      .max(webhookEventTypes.length)
      .meta({ description: "What it is told of.", example: ["channel_occupied", "channel_vacated"] }),
    batch_enabled: z.boolean().optional().meta({
      description: "Whether a request may have several events; each has one when left out.",
      example: true,
    }),
    filter: z
      .object({
        channel_name_starts_with: channelNamePart.optional().meta({ example: "presence-" }),
        channel_name_ends_with: channelNamePart.optional().meta({ example: "-room" }),
      })
      .optional()
      .meta({ description: "Only events of channels with such names." }),
  })
  .meta({ id: "WebsocketWebhook" });

/** An address that receives webhooks, in the shape of the API. */
export type Webhook = z.output<typeof webhook>;

/** The members of a new application, which a change may have as well. */
export const fields = {
  name: z
    .string()
    .min(3)
    .max(40)
    .regex(/^[a-z0-9_-]+$/, "may have lowercase letters, digits, underscores and hyphens only")
    .meta({ description: "Need not be unique.", example: "website" }),
  allowed_origins: z
    .array(origin)
    .max(MAX_ORIGINS)
    .meta({
      description:
        "Where web pages may connect from: `*`, or hosts such as `example.com` or `*.example.com`, with a scheme and a port where those matter. An empty list allows every origin.",
      example: ["https://example.com"],
    }),
  ping_interval: z.int().min(1).max(60).meta({
    description: "Seconds of silence after which the server asks whether a client is alive.",
    example: 60,
  }),
  activity_timeout: z
    .int()
    .min(1)
    .max(60)
    .meta({ description: "Seconds of silence after which a client asks the server.", example: 30 }),
  max_message_size: z
    .int()
    .min(1000)
    .max(100_000)
    .meta({ description: "The longest message that a client may send, in bytes.", example: 10_000 }),
  max_connections: z.int().min(1).max(10_000).optional().meta({
    description:
      "The application's own number out of the cluster's, whose strategy is `custom` from then on.",
    example: 50,
  }),
  client_events_enabled: z.boolean().meta({
    description: "Whether clients may send events to each other on private and presence channels.",
    example: true,
  }),
  subscription_count_enabled: z.boolean().meta({
    description: "Whether clients are told how many subscribers their channels have.",
    example: false,
  }),
  webhooks: z
    .array(webhook)
    .max(MAX_WEBHOOKS)
    .meta({ description: "Addresses that are told of what happens, in signed requests.", example: [] }),
};

const settings = z.object(fields).required();

/** The members of an application that a customer sets; the API and the row have the same names. */
export type ApplicationSettings = z.output<typeof settings>;

/** The names of the settings, each also a column. */
export const SETTINGS = settings.keyof().options;

function isWebhookUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}
