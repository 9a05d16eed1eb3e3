// The kind `databases`: Postgres and MySQL clusters, and the databases in them.
import type { ResourceKind } from "../kind.ts";
import { allocationOf } from "./allocation.ts";
import { reconcileDatabaseCluster } from "./reconciler.ts";
import { MEMORY_BYTES_PER_CU } from "./resources.ts";
import { databaseClusterOperations } from "./routes.ts";
import { databaseOperations } from "./schemas/routes.ts";
import { loadDatabaseCluster } from "./store.ts";

export const databases: ResourceKind = {
  name: "databases",
  operations: (context) => [...databaseClusterOperations(context), ...databaseOperations(context)],
  computeUnits: { hosted_serverless_postgres: MEMORY_BYTES_PER_CU },
  reconcile: reconcileDatabaseCluster,
  async allocationOf(db, id) {
    const cluster = await loadDatabaseCluster(db, id);
    return cluster && allocationOf(cluster);
  },
};
