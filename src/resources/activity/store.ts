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

/** The newest entries that the filter lets through; each wanted resource, kind or action has a lookup of its own. */
function sourceOf(db: Database, filter: ActivityFilter, within: Fragment, order: Fragment): Fragment {
  const { actions, kinds, resourceIds } = filter;
  const among = (column: string, values: readonly string[] | null) =>
    values === null ? db`` : db`and ${db.unsafe(column)} = any(${db.array([...values], "text")})`;
  const lookups = (column: string, values: readonly string[], others: Fragment) => db`(
    select each.* from unnest(${db.array([...new Set(values)], "text")}) wanted cross join lateral (
      select * from audit where ${db.unsafe(column)} = wanted ${others} and ${within} ${order}) each)`;
  if (resourceIds !== null) {
    return lookups(
      "resource_id",
      resourceIds,
      db`${among("resource_kind", kinds)} ${among("action", actions)}`,
    );
  }
  if (kinds !== null) return lookups("resource_kind", kinds, among("action", actions));
  if (actions !== null) return lookups("action", actions, db``);
  return db`(select * from audit where ${within} ${order})`;
}
