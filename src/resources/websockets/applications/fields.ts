// The settings of a WebSocket application: each with its bounds, its default, its description and its place in the
// contract. The API's bodies and answers, the columns of the row and the spec derive from them.
import { z } from "zod";
import {
  DEFAULT_WEBSOCKET_SETTINGS as DEFAULTS,
  MAX_MESSAGE_BYTES,
} from "../../../contracts/websocket-application.ts";
import type { WebSocketSettings } from "../../../contracts/websocket-application.ts";
import { webhook, webhookOf } from "./webhook.ts";

/** The most applications of a cluster; the smallest cluster then has a connection for each. */
export const MAX_APPLICATIONS = 100;

const MAX_ORIGINS = 100;
const MAX_WEBHOOKS = 10;

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

/** The members of a new application, with the defaults of those that may be left out. */
export const newFields = {
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
    })
    .default(DEFAULTS.allowedOrigins),
  ping_interval: z
    .int()
    .min(1)
    .max(60)
    .meta({
      description: "Seconds of silence after which the server asks whether a client is alive.",
      example: 60,
    })
    .default(DEFAULTS.pingIntervalSeconds),
  activity_timeout: z
    .int()
    .min(1)
    .max(60)
    .meta({ description: "Seconds of silence after which a client asks the server.", example: 30 })
    .default(DEFAULTS.activityTimeoutSeconds),
  max_message_size: z
    .int()
    .min(1000)
    .max(MAX_MESSAGE_BYTES)
    .meta({ description: "The longest message that a client may send, in bytes.", example: 10_000 })
    .default(DEFAULTS.maxMessageBytes),
  max_connections: z.int().min(1).max(10_000).optional().meta({
    description:
      "The application's own number out of the cluster's, whose strategy is `custom` from then on.",
    example: 50,
  }),
  client_events_enabled: z
    .boolean()
    .meta({
      description: "Whether clients may send events to each other on private and presence channels.",
      example: true,
    })
    .default(DEFAULTS.clientEventsEnabled),
  subscription_count_enabled: z
    .boolean()
    .meta({
      description: "Whether clients receive the numbers of subscribers of their channels.",
      example: false,
    })
    .default(DEFAULTS.subscriptionCountEnabled),
  webhooks: z
    .array(webhook)
    .max(MAX_WEBHOOKS)
    .meta({ description: "Addresses that receive events, in signed requests.", example: [] })
    .default([]),
};

/** The members that a change may have, all of which an application has. */
export const fields = withoutDefaults(newFields);

const settings = z.object(fields).required();

/** The members of an application that a customer sets; the API and the row have the same names. */
export type ApplicationSettings = z.output<typeof settings>;

/** The settings as the realtime server has them. */
export function contractOf(application: ApplicationSettings): WebSocketSettings {
  return {
    allowedOrigins: application.allowed_origins,
    pingIntervalSeconds: application.ping_interval,
    activityTimeoutSeconds: application.activity_timeout,
    maxMessageBytes: application.max_message_size,
    clientEventsEnabled: application.client_events_enabled,
    subscriptionCountEnabled: application.subscription_count_enabled,
    webhooks: application.webhooks.map(webhookOf),
  };
}

/** The names of the settings, each also a column. */
export const SETTINGS = settings.keyof().options;

/** Members of a schema, each without its default. */
type WithoutDefaults<Members> = {
  [Name in keyof Members]: Members[Name] extends z.ZodDefault<infer Inner> ? Inner : Members[Name];
};

function withoutDefaults<Members extends z.ZodRawShape>(members: Members): WithoutDefaults<Members> {
  const entries = Object.entries(members).map(([name, field]) => [
    name,
    field instanceof z.ZodDefault ? field.unwrap() : field,
  ]);
  // Entries lose which name has which schema.
  return Object.fromEntries(entries) as WithoutDefaults<Members>;
}
