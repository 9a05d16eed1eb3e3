// The kind `databases`: Postgres and MySQL clusters, and the databases in them.
import type { ResourceKind } from "../kind.ts";
import { allocationOf } from "./allocation.ts";
import { policyOf, type DatabaseSource } from "./backups/policy.ts";
import { databaseBackupOperations } from "./backups/routes.ts";
import { queryOperation } from "./query/routes.ts";
import { reconcileDatabaseCluster } from "./reconciler.ts";
import { databaseQueryOperations } from "./queries/routes.ts";
import { MEMORY_BYTES_PER_CU } from "./resources.ts";
import { databaseClusterOperations } from "./routes.ts";
import { reconcileRefreshes } from "./refreshes/reconciler.ts";
import { REFRESHES } from "./refreshes/store.ts";
import { replicaGauges } from "./replicas/gauges.ts";
import { reconcileReplicas } from "./replicas/reconciler.ts";
import { REPLICAS } from "./replicas/store.ts";
import { attachedDatabases } from "./schemas/attached.ts";
import { databaseOperations } from "./schemas/routes.ts";
import { loadDatabaseCluster } from "./store.ts";
import { databaseVariables } from "./variables.ts";

export const databases: ResourceKind = {
  name: "databases",
  connectionVariables: databaseVariables,
  attached: attachedDatabases,
  operations: (context) => [
    ...databaseClusterOperations(context),
    ...databaseOperations(context),
    ...databaseBackupOperations(context),
    queryOperation(context),
    ...databaseQueryOperations(context),
  ],
  computeUnits: { hosted_serverless_postgres: MEMORY_BYTES_PER_CU },
  reconcile: reconcileDatabaseCluster,
  slowWork: { [REPLICAS]: reconcileReplicas, [REFRESHES]: reconcileRefreshes },
  figures: replicaGauges,
  backupPolicyOf: (source) => policyOf(source as DatabaseSource),
  async allocationOf(db, id) {
    const cluster = await loadDatabaseCluster(db, id);
    return cluster && allocationOf(cluster);
  },
};
