// Lists of an organization's resources: pages and totals cost the same, however many resources exist.
import type { Page } from "../../api/jsonapi/pagination.ts";
import type { Database } from "../../store/database.ts";
import { INSTANCE_KINDS, type InstanceKind } from "./instance-kinds.ts";

/** The filter of a list. An empty or absent list of values lets all rows through. */
export interface ListFilter {
  types: readonly string[] | undefined;
  regions: readonly string[] | undefined;
  statuses: readonly string[] | undefined;
  names?: readonly string[] | undefined;
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

/** The segments that hold the rows of a page. */
interface Position {
  total: number;
  segments: number[];
  /** How many rows of the first segment belong to earlier pages. */
  skipped: number;
}

/** The segment size of `migrations/0006_lists.sql`. */
const SEGMENTS_OF_BLOCK = 32;

/**
 * A page of the organization's rows, the oldest first, and the number of rows on all pages.
 * @param select the beginning of a statement that reads whole rows, of which `r` is the kind's table.
 */
export async function listRows<Row>(
  db: Database,
  kind: InstanceKind,
  select: string,
  request: ListRequest,
): Promise<RowPage<Row>> {
  const { names, ...counted } = request.filter;
  if (names !== undefined && names.length > 0) return await listNamed(db, kind, select, request, names);
  const { total, segments, skipped } = await positionOf(db, kind, request);
  if (segments.length === 0) return { rows: [], total };
  const rows = await db<Row[]>`
    ${db.unsafe(select)} where r.id = any(array(
      select id from ${db.unsafe(INSTANCE_KINDS[kind].table)}
      where organization_id = ${request.organizationId} and segment = any(${db.array(segments, "integer")})
        ${matching(db, counted)}
      order by segment, id limit ${request.page.size} offset ${skipped}))
    order by r.segment, r.id`;
  return { rows, total };
}

/** Finds a page by the counts of the store: first among blocks of segments, then among the segments of a block. */
async function positionOf(
  db: Database,
  kind: InstanceKind,
  { organizationId, filter, page }: ListRequest,
): Promise<Position> {
  const first = (page.number - 1) * page.size;
  const [position] = await db<Position[]>`
    with counted as not materialized (
      select level, block, resources from resource_counts
      where organization_id = ${organizationId} and kind = ${kind} ${matching(db, filter)}),
    blocks as (
      select block, sum(resources)::int as resources, sum(sum(resources)::int) over (order by block) as reached
      from counted where level = 1 group by block),
    wanted_blocks as (
      select block, reached - resources as earlier from blocks
      where reached > ${first}::bigint and reached - resources < ${first + page.size}::bigint),
    segments as (
      select block as segment, sum(resources)::int as resources,
             sum(sum(resources)::int) over (order by block) + (select min(earlier) from wanted_blocks) as reached
      from counted
      where level = 0 and block between (select min(block) * ${SEGMENTS_OF_BLOCK} from wanted_blocks)
        and (select max(block) * ${SEGMENTS_OF_BLOCK} + ${SEGMENTS_OF_BLOCK - 1} from wanted_blocks)
      group by block),
    wanted as (
      select segment, reached - resources as earlier from segments
      where reached > ${first}::bigint and reached - resources < ${first + page.size}::bigint)
    select (select coalesce(max(reached), 0)::int from blocks) as total,
           (select coalesce(array_agg(segment order by segment), '{}') from wanted) as segments,
           (select coalesce(${first}::bigint - min(earlier), 0)::int from wanted) as skipped`;
  if (position === undefined) throw new Error("an aggregate gave no row");
  return { ...position, segments: [...position.segments] };
}

/**
 * Names are free text, for which the store has no counts. A filter by name counts the matching rows through their
 * index.
 */
async function listNamed<Row>(
  db: Database,
  kind: InstanceKind,
  select: string,
  { organizationId, filter, page }: ListRequest,
  names: readonly string[],
): Promise<RowPage<Row>> {
  const among = db`
    from ${db.unsafe(INSTANCE_KINDS[kind].table)} where organization_id = ${organizationId}
      and name = any(${db.array([...names], "text")}) ${matching(db, filter)}`;
  const [rows, counted] = await Promise.all([
    db<Row[]>`
      ${db.unsafe(select)} where r.id = any(array(
        select id ${among} order by segment, id limit ${page.size} offset ${(page.number - 1) * page.size}))
      order by r.segment, r.id`,
    db<{ total: number }[]>`select count(*)::int as total ${among}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** The filters whose values the store counts, as further conditions. */
function matching(db: Database, { types, regions, statuses }: Omit<ListFilter, "names">) {
  const among = (column: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0
      ? db``
      : db`and ${db.unsafe(column)} = any(${db.array([...values], "text")})`;
  return db`${among("type", types)} ${among("region", regions)} ${among("status", statuses)}`;
}
