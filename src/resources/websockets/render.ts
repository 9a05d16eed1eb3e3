// Renders a WebSocket cluster.
import type { KindContext, ServedHost } from "../kind.ts";
import { renderWhole } from "../shared/limits.ts";
import { sleepErrorOf } from "../shared/sleep.ts";
import type { WebSocketClusterResource } from "./schema.ts";
import type { WebSocketClusterRow } from "./store.ts";

/** The resource object. */
export function renderWebSocketCluster(
  cluster: WebSocketClusterRow,
  context: KindContext,
): WebSocketClusterResource {
  const host = context.hosts.of(cluster.hostId);
  return {
    id: cluster.id,
    type: "websocketServers",
    attributes: {
      name: cluster.name,
      type: cluster.type,
      region: cluster.region,
      status: cluster.status,
      max_connections: cluster.maxConnections,
      connection_distribution_strategy: cluster.strategy,
      hostname: host.hostnames.public,
      created_at: cluster.createdAt,
    },
    relationships: {
      applications: { data: cluster.applications.map(({ id }) => ({ id, type: "websocketApplications" })) },
    },
    meta: {
      port: cluster.port,
      url: urlOf("ws", cluster, host),
      http_url: urlOf("http", cluster, host),
      engine: cluster.engine,
      sleep: { state: "awake" },
      last_error: cluster.lastError ?? sleepErrorOf(host.observedStates.of(cluster.id)),
      overdue: cluster.isOverdue,
      storage_bytes: cluster.storageBytes,
      limits: cluster.limits && {
        max_connections: cluster.limits.maxConnections ?? 0,
        ...renderWhole(cluster.limits),
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
