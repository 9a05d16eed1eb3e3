// Combines metrics into longer stretches. Each stretch is computed anew from the table before it, so that a repetition changes
// nothing.
import type { Queryable, Transaction } from "../../../store/database.ts";
import { COLUMNS, COMBINED } from "./columns.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A table of metrics with rows of one length. */
export interface Level {
  name: "minutes" | "fives" | "hours" | "days";
  /** The length of the stretch of a row. */
  ms: number;
  /** How long a row is kept; null is as long as the resource. */
  keptMs: number | null;
}

/** The levels, each of which is computed from the one before it. */
export const LEVELS = [
  { name: "minutes", ms: MINUTE_MS, keptMs: 25 * HOUR_MS },
  { name: "fives", ms: 5 * MINUTE_MS, keptMs: 8 * DAY_MS },
  { name: "hours", ms: HOUR_MS, keptMs: 32 * DAY_MS },
  { name: "days", ms: DAY_MS, keptMs: null },
] as const satisfies Level[];

/**
 * Who adds metrics has this advisory lock alone, and transactions that remove those of resources share it: they lock the
 * rows in other orders.
 */
const METRICS_LOCK = 7_458_006;

/** Until when each level has all that the level before it has. */
export type Rolled = Record<string, number>;

/**
 * Locks and reads how far each level has come, for the rest of the transaction: one process at a time adds metrics.
 * @param firstMs where levels begin that have nothing yet.
 */
export async function lockRolled(tx: Transaction, firstMs: number): Promise<Rolled> {
  await tx`select pg_advisory_xact_lock(${METRICS_LOCK})`;
  for (const { name, ms } of LEVELS.slice(1)) {
    await tx`
      insert into metrics_rolled (level, until) values (${name}, ${new Date(floorTo(firstMs, ms))})
      on conflict do nothing`;
  }
  return await readRolled(tx);
}

/** Reads how far each level has come; a level without rows is left out. */
export async function readRolled(db: Queryable): Promise<Rolled> {
  const rows = await db<{ level: string; until: Date }[]>`select level, until from metrics_rolled`;
  return Object.fromEntries(rows.map(({ level, until }) => [level, until.getTime()]));
}

/**
 * Brings all levels up to date after rows were added.
 * @param addedMs the oldest minute that was added: stretches from there on are computed again.
 * @param nowMs the present minute: stretches that have not ended yet wait.
 */
export async function rollUp(
  tx: Transaction,
  rolled: Rolled,
  { addedMs, nowMs }: { addedMs: number; nowMs: number },
): Promise<void> {
  const [minutes, fives, hours, days] = LEVELS;
  for (const [source, level] of [
    [minutes, fives] as const,
    [fives, hours] as const,
    [hours, days] as const,
  ]) {
    const until = floorTo(nowMs, level.ms);
    const former = rolled[level.name] ?? until;
    const from = Math.max(
      floorTo(Math.min(former, addedMs), level.ms),
      // Older rows of the source may be gone already.
      floorTo(nowMs - source.keptMs, level.ms) + level.ms,
    );
    if (from < until) await combine(tx, source, level, from, until);
    if (until > former)
      await tx`update metrics_rolled set until = ${new Date(until)} where level = ${level.name}`;
  }
}

/** Computes the rows of a level in a time that its source has completely. */
async function combine(
  tx: Transaction,
  source: Level,
  level: Level,
  fromMs: number,
  untilMs: number,
): Promise<void> {
  const columns = COLUMNS.join(", ");
  const sets = ["minutes", ...COLUMNS].map((column) => `${column} = excluded.${column}`).join(", ");
  await tx.unsafe(
    `insert into metrics_${level.name} (resource_id, at, minutes, ${columns})
     select resource_id, bucket, sum(minutes), ${COMBINED.join(", ")}
     from (
       select *, date_bin('${level.ms} milliseconds', at, '2000-01-01Z') as bucket from metrics_${source.name}
       where at >= $1 and at < $2
         and resource_id in (select id from measured)) rows
     group by resource_id, bucket
     on conflict (resource_id, at) do update set ${sets}`,
    [new Date(fromMs), new Date(untilMs)],
  );
}

/** The beginning of the stretch that a moment is in. */
export function floorTo(ms: number, lengthMs: number): number {
  return ms - (ms % lengthMs);
}

/** Deletes what is kept long of a resource; the rest goes with its age. */
export async function deleteMetricsOf(tx: Transaction, id: string): Promise<void> {
  await tx`select pg_advisory_xact_lock_shared(${METRICS_LOCK})`;
  await tx`delete from metrics_hours where resource_id = ${id}`;
  await tx`delete from metrics_days where resource_id = ${id}`;
}
