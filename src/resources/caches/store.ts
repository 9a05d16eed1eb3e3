// The rows of caches: every SQL statement about them.
import { forgetResource } from "../../api/idempotency.ts";
import type { Page } from "../../api/pagination.ts";
import type { Observation } from "../../drivers/driver.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import type { CacheEvictionPolicy, CacheStatus, CloudRegion } from "./schema.ts";
import type { CacheSize, CacheType } from "./sizes.ts";

/** What the customer ordered and what was decided for it at its creation. */
export interface CacheValues {
  id: string;
  organizationId: string;
  hostId: string;
  name: string;
  type: CacheType;
  region: CloudRegion;
  size: CacheSize;
  autoUpgradeEnabled: boolean;
  isPublic: boolean;
  evictionPolicy: CacheEvictionPolicy;
  usesHibernation: boolean;
  /** Minutes. */
  hibernationTimeout: number;
  port: number;
  username: string;
  sealedPassword: string;
}

/** A cache with how far its wish has come. */
export interface CacheRow extends CacheValues {
  status: CacheStatus;
  /** What the driver last told. */
  engine: { name: string; version: string } | null;
  limits: { memoryBytes: number } | null;
  /** UTC with microseconds, ISO 8601. */
  createdAt: string;
  lastError: string | null;
  isOverdue: boolean;
}

/** Which caches of an organization a list shows. An empty or absent list of values lets all through. */
export interface CacheFilter {
  types: readonly string[] | undefined;
  regions: readonly string[] | undefined;
  statuses: readonly string[] | undefined;
}

const CREATED_AT = `to_char(c.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** A constant, so that it may stand in a statement as it is. */
const SELECT = `
  select c.id, c.organization_id as "organizationId", c.host_id as "hostId", c.name, c.type, c.region, c.size,
         c.auto_upgrade_enabled as "autoUpgradeEnabled", c.is_public as "isPublic",
         c.eviction_policy as "evictionPolicy", c.uses_hibernation as "usesHibernation",
         c.hibernation_timeout as "hibernationTimeout", c.port, c.username,
         c.sealed_password as "sealedPassword", c.status, c.engine, c.limits, ${CREATED_AT} as "createdAt",
         w.last_error as "lastError", coalesce(w.deadline_at < now(), false) as "isOverdue"
  from caches c left join work w on w.kind = 'caches' and w.id = c.id`;

/** Adds a cache that is to be created. */
export async function insertCache(tx: Transaction, values: CacheValues): Promise<CacheRow> {
  const [row] = await tx<{ status: CacheStatus; createdAt: string }[]>`
    insert into caches as c (
      id, organization_id, host_id, name, type, region, size, auto_upgrade_enabled, is_public,
      eviction_policy, uses_hibernation, hibernation_timeout, port, username, sealed_password, status)
    values (
      ${values.id}, ${values.organizationId}, ${values.hostId}, ${values.name}, ${values.type},
      ${values.region}, ${values.size}, ${values.autoUpgradeEnabled}, ${values.isPublic},
      ${values.evictionPolicy}, ${values.usesHibernation}, ${values.hibernationTimeout}, ${values.port},
      ${values.username}, ${values.sealedPassword}, 'creating')
    returning status, ${tx.unsafe(CREATED_AT)} as "createdAt"`;
  if (row === undefined) throw new Error("an insert gave no row");
  return { ...values, ...row, engine: null, limits: null, lastError: null, isOverdue: false };
}

/** The organization's cache with this id. */
export async function findCache(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<CacheRow | undefined> {
  const [row] = await db<CacheRow[]>`
    ${db.unsafe(SELECT)} where c.id = ${id} and c.organization_id = ${organizationId}`;
  return row;
}

/** A page of the organization's caches, the oldest first, and how many there are on all pages. */
export async function listCaches(
  db: Database,
  organizationId: string,
  filter: CacheFilter,
  page: Page,
): Promise<{ rows: CacheRow[]; total: number }> {
  const among = (column: string, values: readonly string[] | undefined) =>
    values === undefined || values.length === 0
      ? db``
      : db`and ${db.unsafe(column)} = any(${db.array([...values], "text")})`;
  const where = db`
    where c.organization_id = ${organizationId}
      ${among("c.type", filter.types)} ${among("c.region", filter.regions)} ${among("c.status", filter.statuses)}`;
  const [rows, counted] = await Promise.all([
    db<CacheRow[]>`
      ${db.unsafe(SELECT)} ${where} order by c.id limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`select count(*)::int as total from caches c ${where}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/**
 * Wishes the organization's cache away and tells those who wait for its status.
 * @returns the host that it is on, `deleting` when that was wished before, or undefined when there is no such cache.
 */
export async function markCacheDeleting(
  tx: Transaction,
  organizationId: string,
  id: string,
): Promise<{ hostId: string; wasDeleting: boolean } | undefined> {
  const [row] = await tx<{ hostId: string; status: CacheStatus }[]>`
    select host_id as "hostId", status from caches
    where id = ${id} and organization_id = ${organizationId} for update`;
  if (row === undefined) return undefined;
  if (row.status === "deleting") return { hostId: row.hostId, wasDeleting: true };
  await tx`update caches set status = 'deleting' where id = ${id}`;
  await notify(tx, "status", id);
  return { hostId: row.hostId, wasDeleting: false };
}

/** Any organization's cache, for the reconciler. */
export async function loadCache(db: Queryable, id: string): Promise<CacheRow | null> {
  const [row] = await db<CacheRow[]>`${db.unsafe(SELECT)} where c.id = ${id}`;
  return row ?? null;
}

/** Writes what came of a run. A wish to delete that arrived meanwhile stays. */
export async function writeCacheStatus(
  tx: Transaction,
  id: string,
  status: CacheStatus,
  seen: Observation,
): Promise<void> {
  await tx`
    update caches
    set status = case when status = 'deleting' then status else ${status} end,
        engine = coalesce(${seen.engine}::jsonb, engine), limits = coalesce(${seen.limits}::jsonb, limits)
    where id = ${id}`;
  await notify(tx, "status", id);
}

/** Removes all that is known of a cache; only its audit stays. */
export async function eraseCache(tx: Transaction, id: string): Promise<void> {
  await tx`delete from caches where id = ${id}`;
  await tx`delete from ports where resource_id = ${id}`;
  await forgetResource(tx, id);
  await notify(tx, "status", id);
}
