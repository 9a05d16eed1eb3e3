// Rows of caches without instances, inserted directly into a store, for lists that are longer than a test could create.
import type { Database } from "../../src/store/database.ts";

/** The rows of each transaction; resources created in one transaction share a segment. */
const BATCH = 50;

/** Values of a row that differ from the default. */
export interface CacheRowValues {
  organizationId: string;
  hostId: string;
  status?: string;
}

/**
 * Adds caches with the names `FIRST` to `FIRST + COUNT - 1`, whose ids sort by their names. The region, of two, and the
 * type, of two, follow from the name as well.
 * @returns the ids in their order.
 */
export async function insertCacheRows(
  db: Database,
  first: number,
  count: number,
  { organizationId, hostId, status = "available" }: CacheRowValues,
): Promise<string[]> {
  const ids: string[] = [];
  for (let from = first; from < first + count; from += BATCH) {
    const to = Math.min(from + BATCH, first + count) - 1;
    const rows = await db<{ id: string }[]>`
      insert into caches (
        id, organization_id, host_id, name, type, region, size, auto_upgrade_enabled, is_public, eviction_policy,
        uses_hibernation, hibernation_timeout, port, username, sealed_password, status)
      select 'cache-' || lpad(n::text, 8, '0'), ${organizationId}, ${hostId}, n::text,
        case when n % 5 = 0 then 'hosted_redis' else 'platform_valkey' end,
        case when n % 3 = 0 then 'us-east-1' else 'eu-central-1' end, '250mb', false, false, 'noeviction', true, 5,
        20000, 'app', 'sealed', ${status}
      from generate_series(${from}::int, ${to}::int) n returning id`;
    ids.push(...rows.map(({ id }) => id));
  }
  return ids.sort();
}
