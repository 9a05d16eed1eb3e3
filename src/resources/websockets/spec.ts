// The spec of a WebSocket cluster for the driver.
import type { RealtimeSpec } from "../../contracts/instance-spec.ts";
import type {
  Webhook as RealtimeWebhook,
  WebSocketApplication,
} from "../../contracts/websocket-application.ts";
import type { Vault } from "../../lib/secrets.ts";
import { stillGood } from "./applications/rotate.ts";
import type { Webhook } from "./applications/schema.ts";
import type { ApplicationRow } from "./applications/store.ts";
import type { WebSocketClusterRow } from "./store.ts";

/** The spec, with the secrets of all applications in clear: only a plain secret can check a signature. */
export function specOf(server: WebSocketClusterRow, { vault }: { vault: Vault }): RealtimeSpec {
  return {
    kind: "realtime",
    id: server.id,
    engines: ["realtime"],
    users: [],
    exposure: { port: server.port, scope: "public", through: "engine" },
    maxConnections: server.maxConnections,
    applications: server.applications.map((application) => applicationOf(application, vault)),
  };
}

function applicationOf(application: ApplicationRow, vault: Vault): WebSocketApplication {
  const { id, sealedSecret, formerSecrets } = application;
  const former = stillGood(formerSecrets, Date.now());
  return {
    id,
    appId: application.appId,
    key: application.key,
    secrets: [
      { secret: vault.open(sealedSecret, id), expiresAt: null },
      ...former.map(({ sealed, expiresAt }) => ({ secret: vault.open(sealed, id), expiresAt })),
    ],
    allowedOrigins: application.allowed_origins,
    pingIntervalSeconds: application.ping_interval,
    activityTimeoutSeconds: application.activity_timeout,
    maxMessageBytes: application.max_message_size,
    maxConnections: application.max_connections,
    clientEventsEnabled: application.client_events_enabled,
    subscriptionCountEnabled: application.subscription_count_enabled,
    webhooks: application.webhooks.map(webhookOf),
  };
}

function webhookOf({ url, event_types: eventTypes, batch_enabled, filter }: Webhook): RealtimeWebhook {
  const webhook = { url, eventTypes, isBatched: batch_enabled ?? false };
  if (filter === undefined) return webhook;
  const { channel_name_starts_with: start, channel_name_ends_with: end } = filter;
  return {
    ...webhook,
    filter: {
      ...(start !== undefined && { channelNameStartsWith: start }),
      ...(end !== undefined && { channelNameEndsWith: end }),
    },
  };
}
