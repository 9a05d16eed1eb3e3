// Deletes events beyond their retention, in small batches.
import type { Log } from "../../../lib/log.ts";
import type { Database } from "../../../store/database.ts";

/** Only the process that has this advisory lock deletes. */
const PRUNE_LOCK = 7_458_004;
const INTERVAL_MS = 10 * 60_000;
/** Small enough that other statements do not notice. */
const BATCH = 1_000;

/** Deletes old events now and every ten minutes. @returns a function that stops it. */
export function keepEventsFor(days: number, db: Database, log: Log): () => void {
  const run = () => {
    pruneEvents(db, days, BATCH).catch((error: unknown) =>
      log.warn({ error }, "could not delete old events"),
    );
  };
  const timer = setInterval(run, INTERVAL_MS);
  run();
  return () => clearInterval(timer);
}

/**
 * Deletes batch after batch until no old event is left, or while another process holds the lock.
 * @returns how many events were deleted.
 */
export async function pruneEvents(db: Database, days: number, batch: number): Promise<number> {
  for (let sum = 0; ;) {
    const deleted = await pruneBatch(db, days, batch);
    sum += deleted;
    if (deleted < batch) return sum;
  }
}

async function pruneBatch(db: Database, days: number, batch: number): Promise<number> {
  return await db.begin(async (tx) => {
    const [lock] = await tx<{ isOurs: boolean }[]>`
      select pg_try_advisory_xact_lock(${PRUNE_LOCK}) as "isOurs"`;
    if (lock?.isOurs !== true) return 0;
    // The oldest events of each organization by id, so that the primary key finds them.
    const rows = await tx`
      delete from events e using (
        select o.id as organization_id, oldest.id
        from organizations o cross join lateral (
          select id, at from events where organization_id = o.id order by id limit ${batch}) oldest
        where oldest.at < now() - make_interval(days => ${days})
        limit ${batch}) old
      where e.organization_id = old.organization_id and e.id = old.id
      returning e.id`;
    return rows.length;
  });
}
