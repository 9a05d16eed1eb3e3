// The steps of a database cluster's reconciler: its spec, its login, and the writing of the results of the cluster and
// its databases.
import type { Observation } from "../../contracts/observation.ts";
import type { Reconcile } from "../../reconciler/loop.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { eraseFormerPassword } from "../shared/rows.ts";
import { recordEvent, type NewEvent } from "../shared/events/record.ts";
import { writeRestoreError } from "../shared/backups/origin.ts";
import { requeueEnvironmentsWith } from "../shared/attached-environments.ts";
import { ensureLogin, loginOf } from "./login.ts";
import { graceEnd } from "../shared/former-password.ts";
import { endFormerLog } from "./refreshes/former-log.ts";
import { removeStages } from "./refreshes/reconciler.ts";
import { endSwap, isRefreshUnderWay } from "./refreshes/store.ts";
import { replicaCountOf } from "./replicas/count.ts";
import { removeReplicas } from "./replicas/reconciler.ts";
import { enqueueReplicas } from "./replicas/store.ts";
import { ensureMasked } from "./masks/apply.ts";
import { eraseMask } from "./masks/store.ts";
import { eraseDatabases, writeDatabaseStatus } from "./schemas/store.ts";
import { specOf } from "./spec.ts";
import {
  eraseDatabaseCluster,
  loadDatabaseCluster,
  writeDatabaseClusterStatus,
  type DatabaseClusterRow,
} from "./store.ts";

/** The reconciler of database clusters. */
export function reconcileDatabaseCluster(context: KindContext): Reconcile {
  return reconcileInstance(context, {
    load: loadDatabaseCluster,
    specOf: (cluster) => specOf(cluster, context),
    ensureLogin: (cluster, seen) =>
      ensureLogin({ ...loginOf(cluster, context), database: databaseIn(cluster, seen) }),
    ensured: (cluster, driver) => endFormerLog(context.db, driver, cluster),
    ensureMasked: (cluster, seen, signal) => ensureMasked(context, cluster, seen, signal),
    write: async (tx, cluster, status, seen, isReached) => {
      if (isReached) {
        await eraseFormerPassword(tx, "databases", cluster);
        // The replicas get the change as well.
        if (replicaCountOf(cluster) + cluster.replicas.length > 0) await enqueueReplicas(tx, cluster);
        const attached = cluster.schemas.filter(({ environmentIds }) => environmentIds.length > 0);
        const ids = attached.map(({ id }) => id);
        if (ids.length > 0) await requeueEnvironmentsWith(tx, "database_schema_id", ids);
        await writeSchemas(tx, cluster, seen);
      }
      if (status === "restore_failed") {
        await writeRestoreError(tx, "databases", cluster.id, seen.lastError);
        await eraseMask(tx, cluster.id);
      }
      if (isReached) await endSwap(tx, cluster);
      const isUnderWay = status === "available" && (await isRefreshUnderWay(tx, cluster.id));
      await writeDatabaseClusterStatus(tx, cluster.id, isUnderWay ? "updating" : status, seen);
    },
    changesAt: (row) => graceEnd(row),
    beforeRemoval: async (cluster, driver, signal) => {
      await removeReplicas(context, driver, cluster, signal);
      await removeStages(context, driver, cluster, signal);
    },
    erase: eraseDatabaseCluster,
    lost: "restarting",
  });
}

/** An existing database of the cluster. */
function databaseIn(
  { schemas }: DatabaseClusterRow,
  { pendingDatabases = [] }: Observation,
): string | undefined {
  return schemas.find(({ name, status }) => status !== "deleting" && !pendingDatabases.includes(name))?.name;
}

/**
 * The databases that are no longer there: those whose deletion was asked for, and those that were dropped before the
 * backup of a restored cluster, unless they were ordered since.
 */
function goneIn(
  { status: clusterStatus, createdAt: copiedAt, schemas }: DatabaseClusterRow,
  { pendingDatabases = [], missingDatabases = [] }: Observation,
): DatabaseClusterRow["schemas"] {
  const missing = clusterStatus === "restoring" ? missingDatabases : [];
  return schemas.filter(
    ({ name, status, createdAt }) =>
      (status === "deleting" && !pendingDatabases.includes(name)) ||
      (missing.includes(name) && createdAt === copiedAt),
  );
}

/**
 * The driver has made every database that was desired when the run began, except the pending databases. Later requests
 * are left to the next run.
 */
async function writeSchemas(tx: Transaction, cluster: DatabaseClusterRow, seen: Observation): Promise<void> {
  const { organizationId } = cluster;
  const { pendingDatabases = [] } = seen;
  await eraseDatabases(
    tx,
    goneIn(cluster, seen).map(({ id }) => id),
  );
  const events: NewEvent[] = [];
  for (const { id, name, status } of cluster.schemas) {
    if (pendingDatabases.includes(name)) continue;
    const resource = { type: "databaseSchemas", id, name } as const;
    const event = { organizationId, resource, details: { database: cluster.id } };
    if (status === "deleting") events.push({ ...event, type: "deleted" });
    if (status === "creating" && (await writeDatabaseStatus(tx, id, "available"))) {
      events.push({ ...event, type: "available" });
    }
  }
  // Events come after all rows that another transaction may have locked.
  for (const event of events) await recordEvent(tx, event);
}
