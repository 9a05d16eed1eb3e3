// Renders a database cluster for the token of the request.
import type { Principal } from "../../api/auth/auth.ts";
import type { KindContext } from "../kind.ts";
import { credentialsOf } from "../shared/connection.ts";
import { renderWhole } from "../shared/limits.ts";
import { renderSleep, sleepErrorOf } from "../shared/sleep.ts";
import { exposureOf } from "./exposure.ts";
import type { DatabaseClusterResource } from "./schema.ts";
import type { DatabaseClusterRow } from "./store.ts";
import { protocolOf, protocols } from "./types.ts";

/** The resource object; it has credentials only for a token that may see them. */
export function renderDatabaseCluster(
  database: DatabaseClusterRow,
  context: KindContext,
  principal: Principal,
): DatabaseClusterResource {
  const protocol = protocolOf(database.type);
  const { limits } = database;
  const { scope, through } = exposureOf(database);
  const host = context.hosts.of(database.hostId);
  const seen = host.observedStates.of(database.id);
  return {
    id: database.id,
    type: "databases",
    attributes: {
      name: database.name,
      type: database.type,
      status: database.status,
      region: database.region,
      created_at: database.createdAt,
      config: database.config,
      supports_pitr: "false",
      earliest_restore_time: "",
      connection: {
        hostname: host.hostnames[scope],
        port: database.port,
        protocol,
        driver: protocols[protocol].driver,
        ...credentialsOf(database, context, principal, "databases:credentials"),
      },
    },
    relationships: {
      databases: { data: database.schemas.map(({ id }) => ({ id, type: "databaseSchemas" })) },
    },
    meta: {
      engine: seen?.engine ?? database.engine,
      sleep: renderSleep(seen, through),
      last_error: database.lastError ?? sleepErrorOf(seen),
      overdue: database.isOverdue,
      storage_bytes: database.storageBytes,
      version: database.version,
      limits: limits && {
        memory_bytes: limits.memoryBytes,
        cpus: limits.cpus ?? null,
        max_connections: limits.maxConnections ?? null,
        max_processes: renderWhole(limits).max_processes,
        enforced_by: limits.enforcedBy,
      },
    },
  };
}
