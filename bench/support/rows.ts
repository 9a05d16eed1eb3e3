// Rows of caches without engines, inserted into the store directly, for lists of a known length.
import type { SQL } from "bun";
import { newId } from "../../src/lib/ids.ts";
import type { Vault } from "../../src/lib/secrets.ts";

/** The rows of one transaction, which the store puts into one segment; as many as fit. */
const BATCH = 128;

/** The ports of the rows lie outside Pilvi's range. */
const FIRST_PORT = 30_000;
const PORTS_OF_HOST = 30_000;

/**
 * Adds copies of an existing cache, each with everything that belongs to a settled cache: its id, port, sealed
 * password, work and allocation. The copies are placed on hosts of their own, since no host has so many ports.
 * @returns their ids, the oldest first.
 */
export async function insertCacheRows(
  db: SQL,
  vault: Vault,
  modelId: string,
  count: number,
): Promise<string[]> {
  const ids: string[] = [];
  for (let first = 0; first < count; first += BATCH) {
    const numbers = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => first + index);
    const rows = numbers.map((number) => {
      const id = newId("cache");
      const port = FIRST_PORT + (number % PORTS_OF_HOST);
      return {
        id,
        port,
        host: `bench-${Math.floor(number / PORTS_OF_HOST)}`,
        password: vault.seal("A".repeat(32), id),
      };
    });
    await insertBatch(db, modelId, rows);
    ids.push(...rows.map(({ id }) => id));
  }
  await db`analyze`;
  return ids;
}

async function insertBatch(
  db: SQL,
  modelId: string,
  rows: readonly { id: string; port: number; host: string; password: string }[],
): Promise<void> {
  const values = JSON.stringify(rows);
  await db.begin(async (tx) => {
    const added = tx`json_to_recordset(${values}::text::json) as added (id text, port int, host text, password text)`;
    await tx`insert into hosts (id, name) select distinct host, host from ${added} on conflict do nothing`;
    await tx`
      insert into caches (
        id, port, sealed_password, organization_id, host_id, name, type, region, size, auto_upgrade_enabled,
        is_public, eviction_policy, uses_hibernation, hibernation_timeout, username, status, engine, limits)
      select added.id, added.port, password, organization_id, host, name,
        type, region, size, auto_upgrade_enabled, is_public, eviction_policy, uses_hibernation,
        hibernation_timeout, username, status, engine, limits
      from ${added}, caches where caches.id = ${modelId} order by added.id`;
    await tx`
      insert into instances (id, kind, resource_id, host_id, port) select id, 'caches', id, host, port from ${added}`;
    await tx`insert into work (kind, id, host_id, run_at) select 'caches', id, host, 'infinity' from ${added}`;
    await tx`
      insert into allocations (resource_id, organization_id, token_id, kind, memory_bytes)
      select id, organization_id, token_id, kind, memory_bytes
      from (select id from ${added}) added, (
        select organization_id, token_id, kind, memory_bytes from allocations where resource_id = ${modelId}) model`;
  });
}
