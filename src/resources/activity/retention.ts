// Deletes activity beyond its retention, and tokens that ended before all activity that is kept, in small batches.
import { pruneTokens } from "../../api/auth/tokens.ts";
import type { Log } from "../../lib/log.ts";
import { SteadyClock } from "../../lib/steady-clock.ts";
import type { Database } from "../../store/database.ts";

const INTERVAL_MS = 3_600_000;
/** Small enough that other statements do not notice. */
const BATCH = 1_000;

/** Deletes old activity and old tokens every hour, while the time may be relied on. @returns a function that stops it. */
export function keepActivityFor(days: number, db: Database, log: Log): () => void {
  const clock = new SteadyClock();
  const run = () => {
    if (!clock.isSteady()) return;
    // A token that is named by activity is there as long as that.
    pruneActivity(db, days, BATCH)
      .then(() => pruneTokens(db, days, BATCH))
      .catch((error: unknown) => log.warn({ error }, "could not delete old activity"));
  };
  const timer = setInterval(run, INTERVAL_MS);
  return () => clearInterval(timer);
}

/** Deletes batch after batch until nothing old is left; several processes may do it. @returns how many were deleted. */
export async function pruneActivity(db: Database, days: number, batch: number): Promise<number> {
  for (let sum = 0; ;) {
    // Ids follow the times closely enough that the oldest stand at the beginning of the primary key.
    const rows = await db`
      delete from audit where id in (
        select id from (select id, at from audit order by id limit ${batch} for update skip locked) oldest
        where at < now() - make_interval(days => ${days}))
      returning id`;
    sum += rows.length;
    if (rows.length < batch) return sum;
  }
}
