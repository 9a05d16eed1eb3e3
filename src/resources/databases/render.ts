// Renders a database cluster for the token of the request.
import type { Principal } from "../../api/auth/auth.ts";
import type { Observation } from "../../contracts/observation.ts";
import type { KindContext } from "../kind.ts";
import { renderBackup, renderOrigin, renderRestore, windowOf } from "../shared/backups/render.ts";
import { credentialsOf } from "../shared/connection.ts";
import { renderWhole } from "../shared/limits.ts";
import { renderFormer } from "../shared/former-password.ts";
import { renderSleep, sleepErrorOf } from "../shared/sleep.ts";
import { keepsLog } from "./backups/policy.ts";
import { exposureOf } from "./exposure.ts";
import { renderRefresh } from "./refreshes/render.ts";
import { missingReplicasError, renderReplicas } from "./replicas/render.ts";
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
  const archive = host.archiveStates.of(database.id);
  const earliest = archive && keepsLog(database) ? windowOf(archive)?.earliest : undefined;
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
      supports_pitr: earliest === undefined ? "false" : "true",
      earliest_restore_time: earliest ?? "",
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
      last_error: errorOf(database, seen),
      overdue: database.isOverdue,
      former_credentials: renderFormer(database),
      storage_bytes: database.storageBytes,
      backup: renderBackup(database.id, host),
      restore: renderRestore(database, host),
      origin: renderOrigin(database.origin),
      refresh: renderRefresh(database, host),
      replicas: renderReplicas(database, host),
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

/** What keeps the cluster from its order, as a sentence; null while nothing does. */
function errorOf(database: DatabaseClusterRow, seen: Observation | undefined): string | null {
  const { lastError, origin } = database;
  return lastError ?? origin?.error ?? missingReplicasError(database) ?? sleepErrorOf(seen);
}
