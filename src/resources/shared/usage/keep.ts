// Keeps the usage up to date: samples, roll-ups, and the deletion of what is too old.
import type { Log } from "../../../lib/log.ts";
import { SteadyClock } from "../../../lib/steady-clock.ts";
import type { Database } from "../../../store/database.ts";
import { rollUp } from "./roll-up.ts";
import { rollUpHours, sampleStorage } from "./sample.ts";

const INTERVAL_MS = 60_000;
/** Only the process that has this advisory lock samples. */
const USAGE_LOCK = 7_458_005;
/** The usage of so many months is kept. */
const MONTHS = 25;

/**
 * Samples and counts now and every minute, and deletes what is too old while the time may be relied on.
 * @returns a function that stops it.
 */
export function keepUsage(db: Database, log: Log): () => void {
  const clock = new SteadyClock();
  let running: Promise<void> | null = null;
  const run = () => {
    running ??= updateUsage(db, { isPruned: clock.isSteady() })
      .catch((error: unknown) => log.warn({ error }, "the usage could not be counted"))
      .finally(() => (running = null));
  };
  const timer = setInterval(run, INTERVAL_MS);
  run();
  return () => clearInterval(timer);
}

/** Does all of it once, unless another process is at it. */
export async function updateUsage(db: Database, { isPruned } = { isPruned: true }): Promise<void> {
  const session = await db.reserve();
  try {
    const [lock] = await session<{ isOurs: boolean }[]>`
      select pg_try_advisory_lock(${USAGE_LOCK}) as "isOurs"`;
    if (lock?.isOurs !== true) return;
    try {
      const first = await sampleStorage(db);
      await rollUpHours(db, first);
      await rollUp(db, { isDaily: true });
      if (isPruned) await pruneUsage(db);
    } finally {
      await session`select pg_advisory_unlock(${USAGE_LOCK})`;
    }
  } finally {
    await session.release();
  }
}

/**
 * Hours are kept as long as events, so that days can be made again from both. Rows that another transaction has locked
 * go the next time.
 */
async function pruneUsage(db: Database): Promise<void> {
  await db`
    delete from usage_hours where (resource_id, hour) in (
      select resource_id, hour from usage_hours where hour < (select events_since from usage_horizon)
      for update skip locked)`;
  await db`
    delete from usage_days where (resource_id, day) in (
      select resource_id, day from usage_days where day < (now() - make_interval(months => ${MONTHS}))::date
      for update skip locked)`;
  await db`
    with gone as (
      delete from usage_resources where resource_id in (
        select resource_id from usage_resources where deleted_at < now() - make_interval(months => ${MONTHS})
        for update skip locked)
      returning resource_id)
    delete from usage_sizes where resource_id in (select resource_id from gone)`;
  await db`
    delete from usage_marks m where not exists (select from usage_resources r where r.resource_id = m.resource_id)`;
}
