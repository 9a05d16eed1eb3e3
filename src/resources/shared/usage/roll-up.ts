// Makes the days of resources from their events. A day can be made again at any time, with the same result.
import type { Database, Transaction } from "../../../store/database.ts";
import { lifeOf, type LifeEvent, type LifeState } from "../events/awake-time.ts";
import { DAY_MS, daysOf, dayStart, type DayOfLife, type Size } from "./days.ts";

/** Resources in one transaction, and days of each: what a transaction reads is limited. */
const RESOURCES = 20;
const DAYS = 31;

/** Which resources are counted. */
interface RollUpScope {
  /** All organizations when left out. */
  organizationId?: string;
  /** Also resources that have no new events, once a day. */
  isDaily?: boolean;
}

/**
 * Counts all that happened so far, in one pass over the resources, so that new events cannot prolong it without end.
 * What is counted already is not counted again.
 */
export async function rollUp(db: Database, scope: RollUpScope = {}): Promise<void> {
  for (let after: string | null = ""; after !== null;) {
    const from: string = after;
    after = await db.begin((tx) => rollUpSome(tx, from, scope));
  }
}

/** The state of the count of a resource. */
interface Counted {
  id: string;
  deletedMs: number | null;
  countedMs: number;
}

/** A resource with the days that are made anew. */
interface Window {
  id: string;
  /** The beginning of the first day. */
  fromMs: number;
  /** The events from here on are read: they may be earlier than the first day. */
  eventsFromMs: number;
  untilMs: number;
}

/** @returns the id after which the pass goes on; null when it is done. */
async function rollUpSome(tx: Transaction, after: string, scope: RollUpScope): Promise<string | null> {
  const resources = await lockSome(tx, after, scope);
  const last = resources.at(-1);
  if (last === undefined) return null;
  const ids = tx.array(
    resources.map(({ id }) => id),
    "text",
  );
  const marks = await tx<{ id: string; atMs: number }[]>`
    with taken as (delete from usage_marks where resource_id = any(${ids}) returning resource_id, at)
    select resource_id as id, floor(extract(epoch from min(at)) * 1000)::float8 as "atMs" from taken group by resource_id`;
  // Read after the marks, so that no event is later than this time unless its clock is ahead.
  const [clock] = await tx<{ nowMs: number; horizonMs: number }[]>`
    select floor(extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs",
           greatest(floor(extract(epoch from events_since) * 1000), 0)::float8 as "horizonMs"
    from usage_horizon`;
  if (clock === undefined) throw new Error("the horizon of the usage is missing");
  const windows = resources.map((resource) => {
    const mark = marks.find(({ id }) => id === resource.id);
    return windowOf(resource, mark?.atMs ?? resource.countedMs, clock);
  });
  const isCut = await countWindows(tx, windows, resources);
  return isCut ? after : last.id;
}

async function lockSome(
  tx: Transaction,
  after: string,
  { organizationId, isDaily = false }: RollUpScope,
): Promise<Counted[]> {
  const owner = organizationId ?? null;
  return await tx<Counted[]>`
    with marked as (
      select distinct m.resource_id from usage_marks m join usage_resources using (resource_id)
      where m.resource_id > ${after} and (${owner}::text is null or organization_id = ${owner})
      order by 1 limit ${RESOURCES}
    ), due as (
      select resource_id from usage_resources
      where ${isDaily} and deleted_at is null and counted_until < date_trunc('day', now(), 'UTC')
        and resource_id > ${after}
      order by 1 limit ${RESOURCES}
    )
    select resource_id as id, floor(extract(epoch from deleted_at) * 1000)::float8 as "deletedMs",
           floor(extract(epoch from counted_until) * 1000)::float8 as "countedMs"
    from usage_resources
    where resource_id in (select * from marked union select * from due order by 1 limit ${RESOURCES})
    order by resource_id for update`;
}

function windowOf(
  { id, deletedMs, countedMs }: Counted,
  markMs: number,
  { nowMs, horizonMs }: { nowMs: number; horizonMs: number },
): Window {
  // A clock that was ahead may have left a horizon that is still to come.
  const fromMs = Math.max(dayStart(Math.min(markMs, countedMs)), Math.min(horizonMs, dayStart(nowMs)));
  const untilMs = Math.min(Math.max(fromMs, deletedMs ?? nowMs), fromMs + DAYS * DAY_MS);
  return { id, fromMs, eventsFromMs: Math.min(markMs, fromMs), untilMs };
}

/** @returns whether a resource has more days than one transaction makes. */
async function countWindows(tx: Transaction, windows: Window[], resources: Counted[]): Promise<boolean> {
  const [begins, events, sizes] = await Promise.all([
    beginsOf(tx, windows),
    eventsOf(tx, windows),
    sizesOf(tx, windows),
  ]);
  const days: (DayOfLife & { id: string })[] = [];
  const results = windows.map((window) => {
    const { id, fromMs } = window;
    const own = events.get(id) ?? [];
    const deletedMs = resources.find((each) => each.id === id)?.deletedMs ?? null;
    const isCut = window.untilMs === fromMs + DAYS * DAY_MS;
    // The clock of a host may be ahead of the store's.
    const latestMs = isCut || deletedMs !== null ? window.untilMs : (own.at(-1)?.atMs ?? 0);
    const untilMs = Math.max(window.untilMs, latestMs);
    const life = lifeOf(own, { state: begins.get(id) ?? "stopped", fromMs }, untilMs);
    const made = daysOf(life, sizes.get(id) ?? [], { fromMs, untilMs });
    days.push(...made.map((day) => ({ id, ...day })));
    const isDeleted = deletedMs !== null && !isCut;
    return { id, untilMs, isCut, state: isDeleted ? "stopped" : (made.at(-1)?.state ?? life.state) };
  });
  await writeDays(tx, days);
  await tx`
    update usage_resources r
    set counted_until = to_timestamp(c."untilMs" / 1000), state = c.state
    from json_to_recordset(${results}::json) as c (id text, "untilMs" float8, state text)
    where r.resource_id = c.id`;
  await tx`
    insert into usage_marks (resource_id, at)
    select c.id, to_timestamp(c."untilMs" / 1000)
    from json_to_recordset(${results}::json) as c (id text, "untilMs" float8, "isCut" boolean) where c."isCut"`;
  return results.some(({ isCut }) => isCut);
}

/** The state of each resource before its window. */
async function beginsOf(tx: Transaction, windows: Window[]): Promise<Map<string, LifeState>> {
  const rows = await tx<{ id: string; state: LifeState }[]>`
    select w.id, d.state from json_to_recordset(${windows}::json) as w (id text, "fromMs" float8)
    cross join lateral (
      select state from usage_days
      where resource_id = w.id and day < (to_timestamp(w."fromMs" / 1000) at time zone 'utc')::date
        and state is not null
      order by day desc limit 1) d`;
  return new Map(rows.map(({ id, state }) => [id, state]));
}

async function eventsOf(tx: Transaction, windows: Window[]): Promise<Map<string, LifeEvent[]>> {
  const rows = await tx<(LifeEvent & { id: string })[]>`
    select w.id, e.type, floor(extract(epoch from e.at) * 1000)::float8 as "atMs",
           jsonb_build_object('not_before', e.details -> 'not_before') as details
    from json_to_recordset(${windows}::json)
      as w (id text, "eventsFromMs" float8, "fromMs" float8, "untilMs" float8)
    join events e on e.resource_id = w.id and e.at >= to_timestamp(w."eventsFromMs" / 1000)
    where e.type in ('started', 'restarted', 'stopped', 'crashed', 'asleep', 'failed', 'disk_full', 'gap')
      and (w."untilMs" < w."fromMs" + ${DAYS * DAY_MS}
           or coalesce((e.details ->> 'not_before')::timestamptz, e.at) < to_timestamp(w."untilMs" / 1000))
    order by e.at, e.id`;
  return Map.groupBy(rows, ({ id }) => id);
}

async function sizesOf(tx: Transaction, windows: Window[]): Promise<Map<string, Size[]>> {
  const ids = tx.array(
    windows.map(({ id }) => id),
    "text",
  );
  const rows = await tx<(Size & { id: string })[]>`
    select resource_id as id, floor(extract(epoch from since) * 1000)::float8 as "sinceMs",
           memory_bytes::float8 as "memoryBytes"
    from usage_sizes where resource_id = any(${ids}) order by since`;
  return Map.groupBy(rows, ({ id }) => id);
}

async function writeDays(tx: Transaction, days: (DayOfLife & { id: string })[]): Promise<void> {
  await tx`
    insert into usage_days (resource_id, day, awake_ms, awake_mib_ms, uncertain_ms, asleep_ms, asleep_mib_ms,
                            is_complete, state)
    select id, day, "awakeMs", "awakeMibMs", "uncertainMs", "asleepMs", "asleepMibMs", "isComplete", state
    from json_to_recordset(${days}::json) as d (
      id text, day date, "awakeMs" bigint, "awakeMibMs" bigint, "uncertainMs" bigint, "asleepMs" bigint,
      "asleepMibMs" bigint, "isComplete" boolean, state text)
    on conflict (resource_id, day) do update
    set awake_ms = excluded.awake_ms, awake_mib_ms = excluded.awake_mib_ms, uncertain_ms = excluded.uncertain_ms,
        asleep_ms = excluded.asleep_ms, asleep_mib_ms = excluded.asleep_mib_ms,
        is_complete = excluded.is_complete, state = excluded.state`;
}
