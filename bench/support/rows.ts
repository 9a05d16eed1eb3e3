// Rows of caches without engines, put straight into the store, to have lists of a known length.
import type { SQL } from "bun";
import { newId } from "../../src/lib/ids.ts";
import type { Vault } from "../../src/lib/secrets.ts";

/** The ports of the rows; they are outside of the range that Pilvi gives out. */
const FIRST_PORT = 30_000;

/** Adds copies of a cache that is there, each with an id, a port and a sealed password of its own. */
export async function insertCacheRows(db: SQL, vault: Vault, modelId: string, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const id = newId("cache");
    await db`
      insert into caches (
        id, port, sealed_password, organization_id, host_id, name, type, region, size, auto_upgrade_enabled,
        is_public, eviction_policy, uses_hibernation, hibernation_timeout, username, status, engine, limits)
      select ${id}, ${FIRST_PORT + index}, ${vault.seal("A".repeat(32), id)}, organization_id, host_id, name,
        type, region, size, auto_upgrade_enabled, is_public, eviction_policy, uses_hibernation,
        hibernation_timeout, username, status, engine, limits
      from caches where id = ${modelId}`;
  }
}
