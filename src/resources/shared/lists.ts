// Lists of an organization's resources: pages and totals cost the same, however many resources exist.
import type { Page } from "../../api/jsonapi/pagination.ts";
import type { Database } from "../../store/database.ts";

/** The filter of a list. An empty or absent list of values lets all rows through. */
export interface ListFilter {
  types: readonly string[] | undefined;
  regions: readonly string[] | undefined;
  statuses: readonly string[] | undefined;
  names?: readonly string[] | undefined;
  slugs?: readonly string[] | undefined;
  sizes?: readonly string[] | undefined;
  scalingTypes?: readonly string[] | undefined;
}

/** A page of the resources that a filter lets through. */
export interface ListRequest {
  organizationId: string;
  filter: ListFilter;
  page: Page;
}

/** The rows of one page, and the number of rows on all pages. */
export interface RowPage<Row> {
  rows: Row[];
  total: number;
}

/** A row of a page; an empty page is one row without a place. */
interface PlacedRow {
  total: number;
  /** From 1. */
  place: number;
}

/**
 * A page of the organization's rows, the oldest first, and the number of rows on all pages.
 * @param table a constant, whose lists are counted (`keep_counts`).
 * @param select the beginning of a statement that reads whole rows, of which `r` is the kind's table.
 */
export async function listRows<Row>(
  db: Database,
  table: string,
  select: string,
  request: ListRequest,
): Promise<RowPage<Row>> {
  const { organizationId, filter, page } = request;
  const { names = [], slugs = [], types, regions, statuses } = filter;
  if (names.length > 0 || slugs.length > 0) return await listNamed(db, table, select, request);
  const found = await db<(Row & PlacedRow)[]>`
    select page.total, page.place, found.*
    from ${db.unsafe(`page_of_${table}`)}(
      ${organizationId}, ${valuesOf(db, types)}::text[], ${valuesOf(db, regions)}::text[],
      ${valuesOf(db, statuses)}::text[], ${firstOf(page)}::bigint, ${page.size}::integer) page
    left join lateral (${db.unsafe(select)} where r.id = page.resource_id) found on true
    order by page.place`;
  const [first] = found;
  if (first === undefined) throw new Error("a page gave no total");
  return { rows: found.filter(({ place }) => place > 0), total: first.total };
}

/** The condition that an expression, a constant, has one of these values; none without values. */
export function among(db: Database, expression: string, values: readonly string[] = []) {
  return values.length === 0
    ? db``
    : db`and ${db.unsafe(expression)} = any(${db.array([...values], "text")})`;
}

/** How many rows precede a page. */
function firstOf({ number, size }: Page): number {
  return (number - 1) * size;
}

/** The values of a filter that the store counts; null lets all rows through. */
function valuesOf(db: Database, values: readonly string[] | undefined) {
  return values === undefined || values.length === 0 ? null : db.array([...values], "text");
}

/**
 * Names and slugs are free text, for which the store has no counts. A filter by one of them counts the matching rows
 * through their index.
 */
async function listNamed<Row>(
  db: Database,
  table: string,
  select: string,
  { organizationId, filter, page }: ListRequest,
): Promise<RowPage<Row>> {
  const named = db`
    from ${db.unsafe(table)} where organization_id = ${organizationId}
      ${among(db, "name", filter.names)} ${among(db, "slug", filter.slugs)} ${matching(db, filter)}`;
  const [rows, counted] = await Promise.all([
    db<Row[]>`
      ${db.unsafe(select)} where r.id = any(array(
        select id ${named} order by segment, id limit ${page.size} offset ${firstOf(page)}))
      order by r.segment, r.id`,
    db<{ total: number }[]>`select count(*)::int as total ${named}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** The filters whose values the store counts, as further conditions. */
function matching(db: Database, { types, regions, statuses }: ListFilter) {
  return db`
    ${among(db, "type", types)} ${among(db, "region", regions)} ${among(db, "status", statuses)}`;
}
