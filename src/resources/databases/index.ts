// The kind `databases`: Postgres and MySQL clusters, and the databases in them.
import type { ResourceKind } from "../kind.ts";
import { reconcileDatabase } from "./reconciler.ts";
import { databaseOperations } from "./routes.ts";
import { schemaOperations } from "./schemas/routes.ts";

export const databases: ResourceKind = {
  name: "databases",
  operations: (context) => [...databaseOperations(context), ...schemaOperations(context)],
  reconcile: reconcileDatabase,
};
