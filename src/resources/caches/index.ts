// The kind `caches`: Valkey and Redis.
import type { ResourceKind } from "../kind.ts";
import { reconcileCache } from "./reconciler.ts";
import { cacheOperations } from "./routes.ts";

export const caches: ResourceKind = {
  name: "caches",
  operations: cacheOperations,
  reconcile: reconcileCache,
};
