// The rows of caches: every SQL statement about them.
import type { Limits, Observation } from "../../contracts/observation.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import { requeueEnvironmentsWith } from "../shared/attached-environments.ts";
import {
  CREATED_AT,
  eraseRow,
  findRow,
  LOGIN_COLUMNS,
  NO_PROGRESS,
  selectOf,
  writeProgress,
  type InstanceLogin,
  type InstanceProgress,
  type InstanceValues,
} from "../shared/rows.ts";
import { listRows, type ListRequest, type RowPage } from "../shared/lists.ts";
import { enqueueArchiveOf } from "../shared/backups/archives.ts";
import { firstStatusOf, type StoredOrigin } from "../shared/backups/origin.ts";
import type { CacheEvictionPolicy, CacheStatus } from "./schema.ts";
import type { CacheSize, CacheType } from "./sizes.ts";

/** The members that the customer may change later. */
export interface CacheSettings {
  name: string;
  size: CacheSize;
  autoUpgradeEnabled: boolean;
  isPublic: boolean;
  evictionPolicy: CacheEvictionPolicy;
  usesHibernation: boolean;
  /** Minutes. */
  hibernationTimeout: number;
}

/** The customer's order, and the properties that the cache got at its creation. */
export interface CacheValues extends InstanceValues, InstanceLogin, CacheSettings {
  type: CacheType;
  /** Where its first data is from; null for a cache that began empty. */
  origin: StoredOrigin | null;
}

/** A cache, and how far its desired state is in force. */
export type CacheRow = CacheValues &
  InstanceProgress<CacheStatus, Limits> & {
    /** The environments that use it. */
    environmentIds: string[];
  };

const SELECT = selectOf(
  "caches",
  `${LOGIN_COLUMNS}, r.type, r.size, r.auto_upgrade_enabled as "autoUpgradeEnabled", r.is_public as "isPublic",
   r.eviction_policy as "evictionPolicy", r.uses_hibernation as "usesHibernation",
   r.hibernation_timeout as "hibernationTimeout", r.origin,
   array(select id from environments where cache_id = r.id order by id) as "environmentIds"`,
);

/** Adds a cache in the status `creating`, or `restoring` when it has an origin. */
export async function insertCache(tx: Transaction, values: CacheValues): Promise<CacheRow> {
  const [row] = await tx<{ status: CacheStatus; createdAt: string }[]>`
    insert into caches as r (
      id, organization_id, host_id, name, type, region, size, auto_upgrade_enabled, is_public,
      eviction_policy, uses_hibernation, hibernation_timeout, origin, port, username, sealed_password, status)
    values (
      ${values.id}, ${values.organizationId}, ${values.hostId}, ${values.name}, ${values.type},
      ${values.region}, ${values.size}, ${values.autoUpgradeEnabled}, ${values.isPublic},
      ${values.evictionPolicy}, ${values.usesHibernation}, ${values.hibernationTimeout}, ${values.origin}::jsonb,
      ${values.port}, ${values.username}, ${values.sealedPassword}, ${firstStatusOf(values.origin)})
    returning status, ${tx.unsafe(CREATED_AT)} as "createdAt"`;
  if (row === undefined) throw new Error("an insert gave no row");
  return { ...values, ...row, ...NO_PROGRESS, environmentIds: [] };
}

/** The organization's cache with this id. */
export async function findCache(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<CacheRow | undefined> {
  return await findRow(db, SELECT, id, organizationId);
}

/** A page of the organization's caches, the oldest first, and the number of caches on all pages. */
export async function listCaches(db: Database, search: ListRequest): Promise<RowPage<CacheRow>> {
  return await listRows(db, "caches", SELECT, search);
}

/** Any organization's cache, for the reconciler. */
export async function loadCache(db: Queryable, id: string): Promise<CacheRow | null> {
  return (await findRow<CacheRow>(db, SELECT, id)) ?? null;
}

/** Writes the customer's change. */
export async function updateCache(tx: Transaction, id: string, settings: CacheSettings): Promise<void> {
  await tx`
    update caches
    set name = ${settings.name}, size = ${settings.size}, auto_upgrade_enabled = ${settings.autoUpgradeEnabled},
        is_public = ${settings.isPublic}, eviction_policy = ${settings.evictionPolicy},
        uses_hibernation = ${settings.usesHibernation}, hibernation_timeout = ${settings.hibernationTimeout}
    where id = ${id}`;
}

/** Writes the result of a run. A request to delete that arrived meanwhile stays. */
export async function writeCacheStatus(
  tx: Transaction,
  id: string,
  status: CacheStatus,
  seen: Observation,
): Promise<void> {
  await writeProgress(tx, "caches", id, status, seen);
}

/** Removes all rows of a cache; only its audit and its backups stay. */
export async function eraseCache(tx: Transaction, id: string): Promise<void> {
  await enqueueArchiveOf(tx, id);
  await requeueEnvironmentsWith(tx, "cache_id", [id]);
  await eraseRow(tx, "caches", id);
}
