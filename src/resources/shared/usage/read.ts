// Reads the usage of an organization in a period: resources by page, their days, and totals by day. All reads of an
// answer belong into one snapshot, or a count between them would be added twice.
import type { SQL } from "bun";
import type { Queryable } from "../../../store/database.ts";
import { lifeOf, type LifeState } from "../events/awake-time.ts";
import type { InstanceKind } from "../instance-kinds.ts";
import { dateOf, daysOf, type DayOfLife } from "./days.ts";

/** What is asked for. An empty list lets nothing through, null everything. */
export interface UsageFilter {
  organizationId: string;
  kinds: readonly InstanceKind[] | null;
  resourceIds: readonly string[] | null;
  /** Milliseconds since 1970; both are midnights in UTC. */
  fromMs: number;
  untilMs: number;
}

/** A resource that existed in the period. */
export interface UsageResourceRow {
  id: string;
  kind: InstanceKind;
  type: string;
  name: string;
  createdAt: string;
  deletedAt: string | null;
  /** The size at the end of the period, or now. */
  memoryBytes: number;
}

/** What was used on a day, of one resource or of all. */
export interface UsageDay {
  day: string;
  awakeMs: number;
  uncertainMs: number;
  asleepMs: number;
  awakeMibSeconds: number;
  asleepMibSeconds: number;
  storageByteHours: number;
  connections: number;
  /** Null where nothing counts messages. */
  messagesReceived: number | null;
  messagesSent: number | null;
  isComplete: boolean;
}

type Fragment = SQL.Query<unknown>;

const ISO = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`;

/** One page of the resources, the oldest first, and how many there are. */
export async function readResources(
  db: Queryable,
  filter: UsageFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ rows: UsageResourceRow[]; total: number }> {
  const [rows, counts] = await Promise.all([
    db<UsageResourceRow[]>`
      select r.resource_id as id, r.kind, r.type, r.name,
             to_char(r.created_at at time zone 'utc', ${db.unsafe(ISO)}) as "createdAt",
             to_char(r.deleted_at at time zone 'utc', ${db.unsafe(ISO)}) as "deletedAt",
             coalesce(latest.memory_bytes, earliest.memory_bytes, 0)::float8 as "memoryBytes"
      from usage_resources r
      left join lateral (
        select memory_bytes from usage_sizes s
        where s.resource_id = r.resource_id and since < to_timestamp(${filter.untilMs / 1000})
        order by since desc limit 1) latest on true
      left join lateral (
        select memory_bytes from usage_sizes s where s.resource_id = r.resource_id order by since limit 1) earliest on true
      where ${among(db, filter)} order by r.resource_id limit ${limit} offset ${offset}`,
    db<{ total: number }[]>`
      select count(*)::integer as total from usage_resources r where ${among(db, filter)}`,
  ]);
  return { rows, total: counts[0]?.total ?? 0 };
}

/** The days of each of these resources. */
export async function readDays(
  db: Queryable,
  filter: UsageFilter,
  ids: readonly string[],
): Promise<Map<string, UsageDay[]>> {
  const wanted = { ...filter, resourceIds: ids };
  const open = await openDays(db, wanted);
  const rows = await db<(UsageDay & { id: string })[]>`
    select resource_id as id, ${db.unsafe(DAY_COLUMNS)}
    from (${countedDays(db, wanted, open)}) counted order by resource_id, day`;
  return Map.groupBy(rows, ({ id }) => id);
}

/** The sums of each day over all resources; the connections are the sum of what each resource had at most. */
export async function readTotals(db: Queryable, filter: UsageFilter): Promise<UsageDay[]> {
  const open = await openDays(db, filter);
  return await db<UsageDay[]>`
    select ${db.unsafe(TOTAL_COLUMNS)}
    from (select ${db.unsafe(DAY_COLUMNS)} from (${countedDays(db, filter, open)}) counted) of_resource
    group by day order by day`;
}

/** The columns of a day of one resource. */
const DAY_COLUMNS = `
  to_char(day, 'YYYY-MM-DD') as day, awake_ms::float8 as "awakeMs", uncertain_ms::float8 as "uncertainMs",
  asleep_ms::float8 as "asleepMs", div(awake_mib_ms, 1000)::float8 as "awakeMibSeconds",
  div(asleep_mib_ms, 1000)::float8 as "asleepMibSeconds", storage_byte_hours::float8 as "storageByteHours",
  connections::float8 as connections,
  case kind when 'websockets' then messages_received::float8 end as "messagesReceived",
  case kind when 'websockets' then messages_sent::float8 end as "messagesSent", is_complete as "isComplete"`;

const TOTAL_COLUMNS = `
  day, ${[
    "awakeMs",
    "uncertainMs",
    "asleepMs",
    "awakeMibSeconds",
    "asleepMibSeconds",
    "storageByteHours",
    "connections",
    "messagesReceived",
    "messagesSent",
  ]
    .map((name) => `sum("${name}") as "${name}"`)
    .join(", ")}, bool_and("isComplete") as "isComplete"`;

function among(
  db: Queryable,
  { organizationId, kinds, resourceIds, fromMs, untilMs }: UsageFilter,
): Fragment {
  const ofKinds = kinds === null ? db`` : db`and r.kind = any(${db.array([...kinds], "text")})`;
  const ofIds =
    resourceIds === null ? db`` : db`and r.resource_id = any(${db.array([...resourceIds], "text")})`;
  return db`
    r.organization_id = ${organizationId} and r.created_at < to_timestamp(${untilMs / 1000})
    and coalesce(r.deleted_at, 'infinity') >= to_timestamp(${fromMs / 1000}) ${ofKinds} ${ofIds}`;
}

/** The days in the store, with the time since they were counted added. */
function countedDays(db: Queryable, filter: UsageFilter, open: OpenDay[]): Fragment {
  return db`
    select resource_id, kind, day, sum(awake_ms) as awake_ms, sum(uncertain_ms) as uncertain_ms,
           sum(asleep_ms) as asleep_ms, sum(awake_mib_ms) as awake_mib_ms, sum(asleep_mib_ms) as asleep_mib_ms,
           sum(storage_byte_hours) as storage_byte_hours, sum(connections) as connections,
           sum(messages_received) as messages_received, sum(messages_sent) as messages_sent,
           bool_and(is_complete) as is_complete
    from (
      select r.resource_id, r.kind, d.day, d.awake_ms, d.uncertain_ms, d.asleep_ms, d.awake_mib_ms, d.asleep_mib_ms,
             d.storage_byte_hours, d.connections, d.messages_received, d.messages_sent, d.is_complete
      from usage_resources r join usage_days d using (resource_id)
      where ${among(db, filter)} and d.day >= ${dateOf(filter.fromMs)}::date
        and d.day < ${dateOf(filter.untilMs)}::date
      union all
      select id, kind, day, "awakeMs", 0, "asleepMs", "awakeMibMs", "asleepMibMs", 0, 0, 0, 0, true
      from json_to_recordset(${open}::json) as o (id text, kind text, day date, "awakeMs" bigint,
        "asleepMs" bigint, "awakeMibMs" bigint, "asleepMibMs" bigint)) parts
    group by resource_id, kind, day`;
}

interface OpenRow {
  id: string;
  kind: InstanceKind;
  state: LifeState;
  countedMs: number;
  memoryBytes: number;
  nowMs: number;
}

type OpenDay = DayOfLife & Pick<OpenRow, "id" | "kind">;

/** The time from the latest count until now, in which each resource did the same all the time. */
async function openDays(db: Queryable, filter: UsageFilter): Promise<OpenDay[]> {
  const rows = await db<OpenRow[]>`
    select r.resource_id as id, r.kind, r.state, floor(extract(epoch from r.counted_until) * 1000)::float8 as "countedMs",
           s.memory_bytes::float8 as "memoryBytes", floor(extract(epoch from now()) * 1000)::float8 as "nowMs"
    from usage_resources r
    cross join lateral (
      select memory_bytes from usage_sizes where resource_id = r.resource_id order by since desc limit 1) s
    where ${among(db, filter)} and r.deleted_at is null and r.state <> 'stopped'
      and r.counted_until < to_timestamp(${filter.untilMs / 1000})`;
  return rows.flatMap(({ id, kind, state, countedMs, memoryBytes, nowMs }) => {
    const period = { fromMs: countedMs, untilMs: Math.min(Math.max(nowMs, countedMs), filter.untilMs) };
    const life = lifeOf([], { state, fromMs: countedMs }, period.untilMs);
    const days = daysOf(life, [{ sinceMs: 0, memoryBytes }], period);
    return days
      .filter(({ day }) => day >= dateOf(filter.fromMs))
      .map((each) => Object.assign(each, { id, kind }));
  });
}
