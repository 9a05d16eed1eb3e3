// What the driver is asked for, for a cache.
import type { CacheSpec } from "../../drivers/driver.ts";
import { sha256Hex, type Vault } from "../../lib/secrets.ts";
import { enginesFor } from "./engines.ts";
import { exposureOf, sleepAfterSecondsOf } from "./exposure.ts";
import { memoryBytesOf } from "./sizes.ts";
import type { CacheRow } from "./store.ts";

/** The spec. The password stays here; its hash is enough to verify it. */
export function specOf(cache: CacheRow, { vault }: { vault: Vault }): CacheSpec {
  const verifier = sha256Hex(vault.open(cache.sealedPassword, cache.id));
  return {
    kind: "cache",
    id: cache.id,
    engines: enginesFor(cache.type),
    // Many clients send a password without a name, which means the user `default`.
    users: [cache.username, "default"].map((name) => ({ name, verifier })),
    exposure: exposureOf(cache),
    sleepAfterSeconds: sleepAfterSecondsOf(cache),
    memoryBytes: memoryBytesOf(cache.size),
    evictionPolicy: cache.evictionPolicy,
  };
}
