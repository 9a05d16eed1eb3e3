// The restores under way: instances whose first data is being read from an archive.
import type { Queryable } from "../../../store/database.ts";

/** What a restore reads. */
export interface Restore {
  /** The id of the backup; null for a restore of an instant. */
  backup: string | null;
  /** The instant, ISO 8601; null for a restore of a backup. */
  at: string | null;
}

/** The restores from an archive that have not ended. */
export async function restoresFrom(db: Queryable, archiveId: string): Promise<Restore[]> {
  return await db<Restore[]>`
    select origin -> 'from' ->> 'backup' as backup, origin -> 'from' ->> 'at' as at
    from (select origin, status from databases union all select origin, status from caches) r
    where status = 'restoring' and origin -> 'from' ->> 'archive' = ${archiveId}
    union all
    select refresh -> 'from' ->> 'backup', refresh -> 'from' ->> 'at'
    from databases where refresh ->> 'state' = 'building' and refresh -> 'from' ->> 'archive' = ${archiveId}`;
}
