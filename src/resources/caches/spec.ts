// The spec of a cache for the driver.
import type { CacheSpec } from "../../contracts/instance-spec.ts";
import { sha256Hex, type Vault } from "../../lib/secrets.ts";
import { verifiersOf } from "../shared/former-password.ts";
import { originIn } from "../shared/backups/origin.ts";
import { enginesFor } from "./engines.ts";
import { exposureOf, sleepAfterSecondsOf } from "./exposure.ts";
import { memoryBytesOf } from "./sizes.ts";
import type { CacheRow } from "./store.ts";

/** The spec. It has hashes of the passwords, which are enough to verify a password, and never a password itself. */
export function specOf(cache: CacheRow, { vault }: { vault: Vault }): CacheSpec {
  const verifiers = verifiersOf(cache, vault, (password) => ({ verifier: sha256Hex(password) }));
  return {
    kind: "cache",
    id: cache.id,
    engines: cache.origin === null ? enginesFor(cache.type) : [cache.origin.engine],
    ...originIn(cache.origin),
    // Many clients send a password without a user name, which means the user `default`.
    users: [cache.username, "default"].map((name) => Object.assign({ name }, verifiers)),
    exposure: exposureOf(cache),
    sleepAfterSeconds: sleepAfterSecondsOf(cache),
    memoryBytes: memoryBytesOf(cache.size),
    evictionPolicy: cache.evictionPolicy,
  };
}
