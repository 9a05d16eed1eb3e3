// The kind `caches`: Valkey and Redis.
import type { ResourceKind } from "../kind.ts";
import { allocationOf } from "./allocation.ts";
import { attachedCaches } from "./attached.ts";
import { cacheBackupOperations } from "./backups/routes.ts";
import { reconcileCache } from "./reconciler.ts";
import { cacheOperations } from "./routes.ts";
import { loadCache } from "./store.ts";
import { cacheVariables } from "./variables.ts";

export const caches: ResourceKind = {
  name: "caches",
  connectionVariables: cacheVariables,
  attached: attachedCaches,
  operations: (context) => [...cacheOperations(context), ...cacheBackupOperations(context)],
  reconcile: reconcileCache,
  async allocationOf(db, id) {
    const cache = await loadCache(db, id);
    return cache && allocationOf(cache);
  },
};
