// The steps of a database cluster's reconciler: its spec, its login, and the writing of the results of the cluster and
// its databases.
import type { Observation } from "../../contracts/observation.ts";
import type { Reconcile } from "../../reconciler/loop.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { recordEvent, type NewEvent } from "../shared/events/record.ts";
import { exposureOf } from "./exposure.ts";
import { ensureLogin, type DatabaseClusterLogin } from "./login.ts";
import { eraseDatabase, writeDatabaseStatus } from "./schemas/store.ts";
import { specOf } from "./spec.ts";
import {
  eraseDatabaseCluster,
  loadDatabaseCluster,
  writeDatabaseClusterStatus,
  type DatabaseClusterRow,
} from "./store.ts";
import { protocolOf } from "./types.ts";

/** The reconciler of database clusters. */
export function reconcileDatabaseCluster(context: KindContext): Reconcile {
  return reconcileInstance(context, {
    load: loadDatabaseCluster,
    specOf: (cluster) => specOf(cluster, context),
    ensureLogin: (cluster, seen) => ensureLogin(loginOf(cluster, seen, context)),
    write: async (tx, cluster, status, seen, isReached) => {
      if (isReached) await writeSchemas(tx, cluster, seen);
      await writeDatabaseClusterStatus(tx, cluster.id, status, seen);
    },
    erase: eraseDatabaseCluster,
    lost: "restarting",
  });
}

function loginOf(
  cluster: DatabaseClusterRow,
  { pendingDatabases = [] }: Observation,
  context: KindContext,
): DatabaseClusterLogin {
  const { scope } = exposureOf(cluster);
  return {
    protocol: protocolOf(cluster.type),
    hostname: context.hosts.of(cluster.hostId).hostnames[scope],
    isPublic: scope === "public",
    port: cluster.port,
    username: cluster.username,
    password: context.vault.open(cluster.sealedPassword, cluster.id),
    database: cluster.schemas.find(
      ({ name, status }) => status !== "deleting" && !pendingDatabases.includes(name),
    )?.name,
  };
}

/**
 * The driver has made every database that was desired when the run began, except the pending databases. Later requests
 * are left to the next run.
 */
async function writeSchemas(
  tx: Transaction,
  cluster: DatabaseClusterRow,
  { pendingDatabases = [] }: Observation,
): Promise<void> {
  const { organizationId } = cluster;
  const events: NewEvent[] = [];
  for (const { id, name, status } of cluster.schemas) {
    if (pendingDatabases.includes(name)) continue;
    const resource = { type: "databaseSchemas", id, name } as const;
    if (status === "deleting") {
      await eraseDatabase(tx, id);
      events.push({ organizationId, type: "deleted", resource });
    }
    if (status === "creating" && (await writeDatabaseStatus(tx, id, "available"))) {
      events.push({ organizationId, type: "available", resource });
    }
  }
  // Events come after all rows that another transaction may have locked.
  for (const event of events) await recordEvent(tx, event);
}
