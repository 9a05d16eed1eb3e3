// Renders a WebSocket cluster.
import type { KindContext, ServedHost } from "../kind.ts";
import { renderWhole } from "../shared/limits.ts";
import { sleepErrorOf } from "../shared/sleep.ts";
import type { WebSocketClusterResource } from "./schema.ts";
import type { WebSocketClusterRow } from "./store.ts";

/** The resource object. */
export function renderWebSocketCluster(
  server: WebSocketClusterRow,
  context: KindContext,
): WebSocketClusterResource {
  const host = context.hosts.of(server.hostId);
  return {
    id: server.id,
    type: "websocketServers",
    attributes: {
      name: server.name,
      type: server.type,
      region: server.region,
      status: server.status,
      max_connections: server.maxConnections,
      connection_distribution_strategy: server.strategy,
      hostname: host.hostnames.public,
      created_at: server.createdAt,
    },
    relationships: {
      applications: { data: server.applications.map(({ id }) => ({ id, type: "websocketApplications" })) },
    },
    meta: {
      port: server.port,
      url: urlOf("ws", server, host),
      http_url: urlOf("http", server, host),
      engine: server.engine,
      sleep: { state: "awake" },
      last_error: server.lastError ?? sleepErrorOf(host.observedStates.of(server.id)),
      overdue: server.isOverdue,
      storage_bytes: server.storageBytes,
      limits: server.limits && {
        max_connections: server.limits.maxConnections ?? 0,
        ...renderWhole(server.limits),
      },
    },
  };
}

/** The address of the cluster, with TLS where public instances have it. */
export function urlOf(
  scheme: "ws" | "http",
  { port }: Pick<WebSocketClusterRow, "port">,
  { hostnames, isTls }: Pick<ServedHost, "hostnames" | "isTls">,
): string {
  const hostname = hostnames.public;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return `${scheme}${isTls ? "s" : ""}://${host}:${port}`;
}
