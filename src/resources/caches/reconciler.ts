// The steps of a cache's reconciler: its spec, its login, and the writing of its result.
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { exposureOf } from "./exposure.ts";
import { ensureLogin, type CacheLogin } from "./login.ts";
import { specOf } from "./spec.ts";
import { eraseCache, loadCache, writeCacheStatus, type CacheRow } from "./store.ts";

/** The reconciler of caches. */
export function reconcileCache(context: KindContext): Reconcile {
  return reconcileInstance(context, {
    load: loadCache,
    specOf: (cache) => specOf(cache, context),
    ensureLogin: (cache) => ensureLogin(loginOf(cache, context)),
    write: (tx, cache, status, seen) => writeCacheStatus(tx, cache.id, status, seen),
    erase: eraseCache,
    lost: "updating",
  });
}

function loginOf(cache: CacheRow, context: KindContext): CacheLogin {
  const host = context.hosts.of(cache.hostId);
  return {
    hostname: host.hostnames[exposureOf(cache).scope],
    port: cache.port,
    username: cache.username,
    password: context.vault.open(cache.sealedPassword, cache.id),
    isTls: cache.isPublic && host.isTls,
  };
}
