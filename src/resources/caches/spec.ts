// The spec of a cache for the driver.
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import { sha256Hex, type Vault } from "../../lib/secrets.ts";
import { enginesFor } from "./engines.ts";
import { exposureOf, sleepAfterSecondsOf } from "./exposure.ts";
import { memoryBytesOf } from "./sizes.ts";
import type { CacheRow } from "./store.ts";

/** The spec. It has a hash of the password, which is enough to verify the password, and never the password itself. */
export function specOf(cache: CacheRow, { vault }: { vault: Vault }): CacheSpec {
  const verifier = sha256Hex(vault.open(cache.sealedPassword, cache.id));
  return {
    kind: "cache",
    id: cache.id,
    engines: enginesFor(cache.type),
    // Many clients send a password without a user name, which means the user `default`.
    users: [cache.username, "default"].map((name) => ({ name, verifier })),
    exposure: exposureOf(cache),
    sleepAfterSeconds: sleepAfterSecondsOf(cache),
    memoryBytes: memoryBytesOf(cache.size),
    evictionPolicy: cache.evictionPolicy,
  };
}
