// What brings a cache to its wish: its spec, its login, and what is written of it.
import type { CacheSpec } from "../../drivers/driver.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import type { Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { hostnameOf } from "../shared/connection.ts";
import { reconcileInstance } from "../shared/reconciler.ts";
import { enginesFor } from "./engines.ts";
import { ensureLogin, type CacheLogin } from "./login.ts";
import { memoryBytesOf } from "./sizes.ts";
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

/** What the driver is asked for. The password stays here; its hash is enough to verify it. */
function specOf(cache: CacheRow, { vault }: KindContext): CacheSpec {
  const verifier = sha256Hex(vault.open(cache.sealedPassword, cache.id));
  return {
    kind: "cache",
    id: cache.id,
    engines: enginesFor(cache.type),
    // Many clients send a password without a name, which means the user `default`.
    users: [cache.username, "default"].map((name) => ({ name, verifier })),
    exposure: { port: cache.port, scope: scopeOf(cache) },
    memoryBytes: memoryBytesOf(cache.size),
    evictionPolicy: cache.evictionPolicy,
  };
}

function loginOf(cache: CacheRow, context: KindContext): CacheLogin {
  return {
    hostname: hostnameOf(scopeOf(cache), context),
    port: cache.port,
    username: cache.username,
    password: context.vault.open(cache.sealedPassword, cache.id),
    isTls: cache.isPublic && context.isTls,
  };
}

function scopeOf({ isPublic }: CacheRow): "public" | "loopback" {
  return isPublic ? "public" : "loopback";
}
