// Deletes events beyond their retention, in small batches, after the usage was made from them.
import type { Log } from "../../../lib/log.ts";
import { SteadyClock } from "../../../lib/steady-clock.ts";
import type { Database, Transaction } from "../../../store/database.ts";
import { rollUp } from "../usage/roll-up.ts";

/** Only the process that has this advisory lock deletes. */
const PRUNE_LOCK = 7_458_004;
const INTERVAL_MS = 10 * 60_000;
/** Small enough that other statements do not notice. */
const BATCH = 1_000;

/** Deletes old events every ten minutes, while the time may be relied on. @returns a function that stops it. */
export function keepEventsFor(days: number, db: Database, log: Log): () => void {
  const clock = new SteadyClock();
  const run = async () => {
    await rollUp(db, { isDaily: true });
    await pruneEvents(db, days, BATCH);
  };
  const start = () => {
    if (!clock.isSteady()) return;
    run().catch((error: unknown) => log.warn({ error }, "could not delete old events"));
  };
  const timer = setInterval(start, INTERVAL_MS);
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
    const cutoff = await raiseHorizon(tx, days);
    // The oldest events of each organization by id, so that the primary key finds them.
    const rows = await tx`
      delete from events e using (
        select o.id as organization_id, oldest.id
        from (select id from organizations union all select id from former_organizations) o cross join lateral (
          select id, at from events where organization_id = o.id order by id limit ${batch}) oldest
        where oldest.at < ${cutoff}::timestamptz
        limit ${batch}) old
      where e.organization_id = old.organization_id and e.id = old.id
      returning e.id`;
    return rows.length;
  });
}

/**
 * The time before which events may be deleted: a midnight in UTC, so that a day keeps all its events or none, and not
 * after an event that is not counted in the usage yet. A horizon that a clock was ahead for comes back to this day.
 */
async function raiseHorizon(tx: Transaction, days: number): Promise<string> {
  const [row] = await tx<{ cutoff: string }[]>`
    with oldest as (select date_trunc('day', now() - make_interval(days => ${days}), 'UTC') as day)
    update usage_horizon set events_since = greatest(least(events_since, date_trunc('day', now(), 'UTC')), least(
      oldest.day,
      (select date_trunc('day', min(m.at), 'UTC') from usage_marks m join usage_resources using (resource_id)),
      (select date_trunc('day', min(counted_until), 'UTC') from usage_resources where deleted_at is null)))
    from oldest returning least(events_since, oldest.day)::text as cutoff`;
  if (row === undefined) throw new Error("the horizon of the usage is missing");
  return row.cutoff;
}
