// The steps of a cache's reconciler: its spec, its login, and the writing of its result.
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { eraseFormerPassword } from "../shared/rows.ts";
import { requeueEnvironmentsWith } from "../shared/attached-environments.ts";
import { graceEnd } from "../shared/former-password.ts";
import { writeRestoreError } from "../shared/backups/origin.ts";
import { ensureLogin, loginOf } from "./login.ts";
import { specOf } from "./spec.ts";
import { eraseCache, loadCache, writeCacheStatus } from "./store.ts";

/** The reconciler of caches. */
export function reconcileCache(context: KindContext): Reconcile {
  return reconcileInstance(context, {
    load: loadCache,
    specOf: (cache) => specOf(cache, context),
    ensureLogin: (cache) => ensureLogin(loginOf(cache, context)),
    write: async (tx, cache, status, seen, isReached) => {
      if (isReached) {
        await eraseFormerPassword(tx, "caches", cache);
        if (cache.environmentIds.length > 0) await requeueEnvironmentsWith(tx, "cache_id", [cache.id]);
      }
      if (status === "restore_failed") await writeRestoreError(tx, "caches", cache.id, seen.lastError);
      await writeCacheStatus(tx, cache.id, status, seen);
    },
    changesAt: (row) => graceEnd(row),
    erase: eraseCache,
    lost: "updating",
  });
}
