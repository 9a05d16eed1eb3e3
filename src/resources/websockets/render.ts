// What an answer says about a WebSocket cluster.
import type { KindContext } from "../kind.ts";
import { hostnameOf } from "../shared/connection.ts";
import { renderWhole } from "../shared/limits.ts";
import { sleepErrorOf } from "../shared/sleep.ts";
import type { WebSocketClusterResource } from "./schema.ts";
import type { WebSocketClusterRow } from "./store.ts";

/** The resource. */
export function renderWebSocketCluster(
  server: WebSocketClusterRow,
  context: KindContext,
): WebSocketClusterResource {
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
      hostname: hostnameOf("public", context),
      created_at: server.createdAt,
    },
    relationships: {
      applications: { data: server.applications.map(({ id }) => ({ id, type: "websocketApplications" })) },
    },
    meta: {
      port: server.port,
      url: urlOf("ws", server, context),
      http_url: urlOf("http", server, context),
      engine: server.engine,
      sleep: { state: "awake" },
      last_error: server.lastError ?? sleepErrorOf(context.observedStates.of(server.id)),
      overdue: server.isOverdue,
      limits: server.limits && {
        max_connections: server.limits.maxConnections ?? 0,
        ...renderWhole(server.limits),
      },
    },
  };
}

/** Where the cluster is reached, with TLS where public instances have it. */
export function urlOf(
  scheme: "ws" | "http",
  { port }: Pick<WebSocketClusterRow, "port">,
  context: Pick<KindContext, "hostnames" | "isTls">,
): string {
  const hostname = context.hostnames.public;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return `${scheme}${context.isTls ? "s" : ""}://${host}:${port}`;
}
