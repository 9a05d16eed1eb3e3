// Reads the audit of an organization by page; every page costs the same, however much has happened.
import type { SQL } from "bun";
import type { Cursor } from "../../api/jsonapi/cursor.ts";
import type { Database } from "../../store/database.ts";
import { momentSql } from "../shared/moments.ts";

/** An entry of the audit with the name of its actor. */
export interface ActivityRow {
  id: string;
  at: string;
  action: string;
  kind: string;
  resourceId: string;
  tokenId: string | null;
  tokenName: string | null;
  userId: string | null;
  userEmail: string | null;
  address: string;
  requestId: string | null;
  details: Record<string, unknown>;
}

/** Null lets every entry through. */
export interface ActivityFilter {
  organizationId: string;
  actions: readonly string[] | null;
  kinds: readonly string[] | null;
  resourceIds: readonly string[] | null;
  since: string | null;
  until: string | null;
}

type Fragment = SQL.Query<unknown>;

/** A page, the newest entry first. */
export async function listActivity(
  db: Database,
  filter: ActivityFilter,
  { cursor, size }: { cursor: Cursor | null; size: number },
): Promise<{ rows: ActivityRow[]; next: Cursor | null }> {
  const order = db`order by at desc, id desc limit ${size + 1}`;
  const rows = await db<(ActivityRow & { micros: string })[]>`
    select a.id::text, ${db.unsafe(momentSql("a.at"))} as at, a.action, a.resource_kind as kind,
           a.resource_id as "resourceId", a.token_id as "tokenId", t.name as "tokenName", a.user_id as "userId",
           u.email as "userEmail", a.address, a.request_id as "requestId", a.details,
           (extract(epoch from a.at) * 1000000)::bigint::text as micros
    from (select * from ${sourceOf(db, filter, withinOf(db, filter, cursor), order)} found ${order}) a
    left join tokens t on t.id = a.token_id and t.organization_id = a.organization_id
    left join users u on u.id = a.user_id
    order by a.at desc, a.id desc`;
  const last = rows[size - 1];
  const hasMore = rows.length > size && last !== undefined;
  return { rows: rows.slice(0, size), next: hasMore ? { atMicros: last.micros, id: last.id } : null };
}

function withinOf(
  db: Database,
  { organizationId, since, until }: ActivityFilter,
  cursor: Cursor | null,
): Fragment {
  const before =
    cursor === null
      ? db``
      : db`and (at, id) < (timestamptz 'epoch' + ${cursor.atMicros}::bigint * interval '1 microsecond', ${cursor.id}::bigint)`;
  return db`
    organization_id = ${organizationId} ${before}
    and at >= coalesce(${since}::timestamptz, '-infinity') and at < coalesce(${until}::timestamptz, 'infinity')`;
}

/**
 * The newest entries that the filter lets through. With a filter, each action on each kind has a lookup of its own, of the
 * organization or of each wanted resource. The pairs are found by a loose scan of the index: a recursive query steps from
 * each to the next. So a page reads no entries that the filter keeps out, however many there are.
 */
function sourceOf(db: Database, filter: ActivityFilter, within: Fragment, order: Fragment): Fragment {
  const { organizationId, actions, kinds, resourceIds } = filter;
  if (actions === null && kinds === null && resourceIds === null)
    return db`(select * from audit where ${within} ${order})`;
  const array = (values: readonly string[]) => db.array([...new Set(values)], "text");
  const among = (column: string, values: readonly string[] | null) =>
    values === null ? db`` : db`and ${db.unsafe(column)} = any(${array(values)})`;
  const owner = db.unsafe(resourceIds === null ? "organization_id" : "resource_id");
  const next = (after: Fragment) => db`
    select resource_kind, action from audit where ${owner} = wanted ${after}
    order by resource_kind, action limit 1`;
  return db`(
    with recursive pairs as (
      select wanted, first.* from unnest(${array(resourceIds ?? [organizationId])}) wanted
      cross join lateral (${next(db``)}) first
      union all
      select wanted, later.* from pairs cross join lateral (
        ${next(db`and (resource_kind, action) > (pairs.resource_kind, pairs.action)`)}) later)
    select each.* from pairs cross join lateral (
      select * from audit
      where ${owner} = wanted and resource_kind = pairs.resource_kind and action = pairs.action and ${within}
      ${order}) each
    where true ${among("pairs.resource_kind", kinds)} ${among("pairs.action", actions)})`;
}
