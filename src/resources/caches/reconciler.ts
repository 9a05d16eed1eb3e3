// Brings one cache to its wish: an engine that runs, reachable with the customer's own credentials, or nothing left.
import type { CacheSpec, Observation } from "../../drivers/driver.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { sha256Hex } from "../../lib/secrets.ts";
import type { Outcome, Reconcile } from "../../reconciler/loop.ts";
import type { KindContext } from "../kind.ts";
import { enginesFor } from "./engines.ts";
import { ensureLogin } from "./login.ts";
import { memoryBytesOf } from "./sizes.ts";
import { nextStatus } from "./status.ts";
import { eraseCache, loadCache, writeCacheStatus, type CacheRow } from "./store.ts";

/** How soon an engine that ended should be back, in seconds. */
const RECOVERY_DEADLINE_SECONDS = 60;

/** How long the host is left alone after it could not start an engine; it goes on trying by itself and tells when it did. */
const HOST_RETRY_MS = 5_000;

/** The reconciler of caches. */
export function reconcileCache(context: KindContext): Reconcile {
  return async (id, signal) => {
    const cache = await loadCache(context.db, id);
    if (cache === null) return { verdict: "gone" };
    if (cache.status === "deleting") return await removeCache(context, cache);
    if (cache.status === "available") {
      const seen = await context.driver.observe(id);
      // Said before it is mended, so that nobody is told of a cache that is not there.
      if (seen.state !== "running") return unreached(cache, seen, 0);
    }
    const seen = await context.driver.ensure(specOf(cache, context), signal);
    await failpoint("caches.ensured");
    if (seen.state !== "running") return unreached(cache, seen, HOST_RETRY_MS);
    await ensureLogin(loginOf(cache, context));
    await failpoint("caches.logged-in");
    return reached(cache, seen);
  };
}

/** What the driver is asked for. The password stays here; its hash is enough to verify it. */
export function specOf(cache: CacheRow, context: KindContext): CacheSpec {
  const verifier = sha256Hex(context.vault.open(cache.sealedPassword, cache.id));
  return {
    kind: "cache",
    id: cache.id,
    engines: enginesFor(cache.type),
    // Many clients send a password without a name, which means the user `default`.
    users: [cache.username, "default"].map((name) => ({ name, verifier })),
    exposure: { port: cache.port, scope: cache.isPublic ? "public" : "loopback" },
    memoryBytes: memoryBytesOf(cache.size),
    evictionPolicy: cache.evictionPolicy,
  };
}

async function removeCache(context: KindContext, cache: CacheRow): Promise<Outcome> {
  await context.driver.remove(cache.id);
  await failpoint("caches.removed");
  return { verdict: "gone", write: (tx) => eraseCache(tx, cache.id) };
}

function loginOf(cache: CacheRow, context: KindContext) {
  return {
    hostname: cache.isPublic ? context.hostnames.public : context.hostnames.loopback,
    port: cache.port,
    username: cache.username,
    password: context.vault.open(cache.sealedPassword, cache.id),
    isTls: cache.isPublic && context.isTls,
  };
}

function reached(cache: CacheRow, seen: Observation): Outcome {
  const status = nextStatus(cache.status, true);
  return { verdict: { settled: true }, write: (tx) => writeCacheStatus(tx, cache.id, status, seen) };
}

function unreached(cache: CacheRow, seen: Observation, retryMs: number): Outcome {
  const status = nextStatus(cache.status, false);
  return {
    verdict: {
      settled: false,
      retryMs,
      lastError: seen.lastError,
      deadlineSeconds: RECOVERY_DEADLINE_SECONDS,
    },
    write: (tx) => writeCacheStatus(tx, cache.id, status, seen),
  };
}
