// Reads events by page; every page costs the same, however many events exist.
import type { SQL } from "bun";
import type { Cursor } from "../../../api/jsonapi/cursor.ts";
import type { Database } from "../../../store/database.ts";
import { eventResourceTypes, eventTypes, type EventResourceType, type EventType } from "../event-schema.ts";

/** An event as the store keeps it. */
export interface EventRow {
  id: string;
  /** UTC with microseconds, ISO 8601. */
  at: string;
  type: EventType;
  resourceType: EventResourceType;
  resourceId: string;
  resourceName: string;
  requestId: string | null;
  details: Record<string, unknown>;
}

/** The filter of a request for an organization's events. */
export interface EventFilter {
  organizationId: string;
  /** Null is every event type, or every resource type. */
  types: readonly EventType[] | null;
  resourceTypes: readonly EventResourceType[] | null;
  resourceIds: readonly string[] | null;
}

/** A page of events. */
export interface EventPage {
  rows: EventRow[];
  next: Cursor | null;
}

/** The columns of events for a statement, as SQL. */
export const EVENT_COLUMNS = `
  id::text, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, type,
  resource_type as "resourceType", resource_id as "resourceId", resource_name as "resourceName",
  request_id as "requestId", details`;

const MICROS = `(extract(epoch from at) * 1000000)::bigint::text`;

/** The newest events first, by the time at which they happened. */
export async function listEvents(
  db: Database,
  filter: EventFilter,
  page: { since: string | null; until: string | null; cursor: Cursor | null; size: number },
): Promise<EventPage> {
  const { since, until, cursor, size } = page;
  const before =
    cursor === null
      ? db``
      : db`and (at, id) < (timestamptz 'epoch' + ${cursor.atMicros}::bigint * interval '1 microsecond', ${cursor.id}::bigint)`;
  const within = db`
    organization_id = ${filter.organizationId} ${before}
    and at >= coalesce(${since}::timestamptz, '-infinity') and at < coalesce(${until}::timestamptz, 'infinity')`;
  const order = db`order by at desc, id desc limit ${size + 1}`;
  const rows = await db<(EventRow & { micros: string })[]>`
    select ${db.unsafe(EVENT_COLUMNS)}, ${db.unsafe(MICROS)} as micros
    from ${sourceOf(db, filter, { within, order })} found order by found.at desc, found.id desc limit ${size + 1}`;
  const last = rows[size - 1];
  const hasMore = rows.length > size && last !== undefined;
  return {
    rows: rows.slice(0, size),
    next: hasMore ? { atMicros: last.micros, id: last.id } : null,
  };
}

type Fragment = SQL.Query<unknown>;

/**
 * The newest events that the filter lets through. Each type of each resource, or each type, has a lookup of its own, so
 * that a page reads only a few pages of an index.
 */
function sourceOf(
  db: Database,
  { types, resourceTypes, resourceIds }: EventFilter,
  { within, order }: { within: Fragment; order: Fragment },
): Fragment {
  const among = (column: string, values: readonly string[] | null) =>
    values === null ? db`` : db`and ${db.unsafe(column)} = any(${db.array([...values], "text")})`;
  if (resourceIds !== null) {
    // A resource has one resource type for life.
    const next = (after: Fragment) => db`
      select type, resource_type from events where resource_id = wanted ${after} order by type limit 1`;
    return db`(
      with recursive found as (
        select wanted, first.* from unnest(${db.array([...resourceIds], "text")}) wanted
        cross join lateral (${next(db``)}) first
        union all
        select wanted, later.* from found cross join lateral (${next(db`and type > found.type`)}) later)
      select each.* from found cross join lateral (
        select * from events where resource_id = wanted and type = found.type and ${within} ${order}) each
      where true ${among("found.type", types)} ${among("found.resource_type", resourceTypes)})`;
  }
  if (types === null && resourceTypes === null) return db`(select * from events where ${within} ${order})`;
  return db`(
    select each.* from unnest(${db.array([...(resourceTypes ?? eventResourceTypes)], "text")}) of_type
    cross join unnest(${db.array([...(types ?? eventTypes)], "text")}) wanted cross join lateral (
      select * from events where resource_type = of_type and type = wanted and ${within} ${order}) each)`;
}
