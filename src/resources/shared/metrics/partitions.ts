// Adds the days into which metrics go, and drops the metrics that are older than they are kept.
import type { Transaction } from "../../../store/database.ts";
import { floorTo, LEVELS } from "./roll-up.ts";

const DAY_MS = 86_400_000;

/** Metrics of a day that lies further ahead are not taken: the clock of their host is wrong. */
const DAYS_AHEAD = 2;

/** The tables that are divided into days. */
const DIVIDED = ["minutes", "fives"] as const;

/**
 * Makes the partitions for all moments that metrics may have now, and drops those that are older than metrics are kept.
 * Days that lie ahead stay, since the clock may have been right before and be behind now. Costs two queries when there
 * is nothing to do.
 */
export async function keepPartitions(tx: Transaction, nowMs: number): Promise<void> {
  const rows = await tx<{ name: string }[]>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent in ('metrics_minutes'::regclass, 'metrics_fives'::regclass)`;
  const present = new Set(rows.map(({ name }) => name));
  const kept = LEVELS.filter(({ name }) => DIVIDED.some((divided) => divided === name));
  const wanted = kept.flatMap(({ name, keptMs }) => daysOf(name, keptMs ?? 0, nowMs));
  const missing = wanted.filter(({ name }) => !present.has(name));
  const outdated = kept.flatMap(({ name, keptMs }) => {
    const oldest = partitionOf(name, floorTo(nowMs - (keptMs ?? 0), DAY_MS));
    return [...present].filter((each) => each.startsWith(partitionOf(name)) && each < oldest);
  });
  // Readers of both tables lock them in this order.
  if (missing.length + outdated.length > 0) await tx`lock table only metrics_fives, only metrics_minutes`;
  for (const { name, table, from, until } of missing) {
    await tx.unsafe(
      `create table ${name} partition of metrics_${table} for values from ('${from}') to ('${until}')`,
    );
  }
  for (const name of outdated) await tx.unsafe(`drop table ${name}`);
  await deleteOld(tx, nowMs);
}

/** The partitions of a table from the oldest row that is kept until some days ahead. */
function daysOf(table: string, keptMs: number, nowMs: number) {
  const first = floorTo(nowMs - keptMs, DAY_MS);
  const count = (floorTo(nowMs, DAY_MS) - first) / DAY_MS + DAYS_AHEAD;
  return Array.from({ length: count }, (_, index) => {
    const day = (offset: number) => new Date(first + (index + offset) * DAY_MS).toISOString().slice(0, 10);
    const name = partitionOf(table, first + index * DAY_MS);
    return { name, table, from: `${day(0)} 00:00Z`, until: `${day(1)} 00:00Z` };
  });
}

/** The name of the partition of a day, or the beginning of the names of all. Names of a table have the order of days. */
function partitionOf(table: string, dayMs?: number): string {
  const date = dayMs === undefined ? "" : new Date(dayMs).toISOString().slice(0, 10);
  return `metrics_${table}_${date.replaceAll("-", "")}`;
}

async function deleteOld(tx: Transaction, nowMs: number): Promise<void> {
  const [, , { keptMs }] = LEVELS;
  await tx`delete from metrics_hours where at < ${new Date(nowMs - keptMs)}`;
}
