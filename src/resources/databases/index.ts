// The kind `databases`: Postgres and MySQL clusters, and the databases in them.
import type { ResourceKind } from "../kind.ts";
import { allocationOf } from "./allocation.ts";
import { reconcileDatabase } from "./reconciler.ts";
import { databaseOperations } from "./routes.ts";
import { schemaOperations } from "./schemas/routes.ts";
import { loadDatabase } from "./store.ts";

export const databases: ResourceKind = {
  name: "databases",
  operations: (context) => [...databaseOperations(context), ...schemaOperations(context)],
  reconcile: reconcileDatabase,
  async allocationOf(db, id) {
    const cluster = await loadDatabase(db, id);
    return cluster && allocationOf(cluster);
  },
};
