// The rows of archives: every SQL statement about them. An archive has the backups of one instance, and outlives it.
import { enqueue } from "../../../reconciler/queue.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { INSTANCE_KINDS, type InstanceKind } from "../instance-kinds.ts";
import { momentSql } from "../moments.ts";
import type { CloudRegion } from "../regions.ts";

/** The kind of archives in the work queue. */
export const ARCHIVES = "archives";

/** The kinds whose instances can be backed up. */
export type BackedUpKind = Extract<InstanceKind, "caches" | "databases">;

/** The order of an instance as it was last; each kind adds its own members. */
export interface ArchiveSource {
  name: string;
  type: string;
  region: CloudRegion;
}

interface ArchiveValues<Source extends ArchiveSource = ArchiveSource> {
  /** The id of the instance. */
  id: string;
  organizationId: string;
  hostId: string;
  kind: BackedUpKind;
  source: Source;
}

/** An archive, and what is left of its instance. */
export interface ArchiveRow<Source extends ArchiveSource = ArchiveSource> extends ArchiveValues<Source> {
  /** UTC with microseconds, ISO 8601; null while nobody has deleted the instance. */
  deletedAt: string | null;
  /** Whether the backups are deleted with the instance. */
  isPurged: boolean;
  /** The backup of the latest verified restore without a fault; null before the first. */
  verifiedBackup: string | null;
  /** The status of the instance; null when nothing is left of it. */
  status: string | null;
}

const KINDS = ["caches", "databases"] as const satisfies BackedUpKind[];

const STATUS = KINDS.map(
  (kind) => `when '${kind}' then (select status from ${INSTANCE_KINDS[kind].table} where id = a.id)`,
).join(" ");

/** A constant, safe to insert into a statement. */
const SELECT = `
  select a.id, a.organization_id as "organizationId", a.host_id as "hostId", a.kind, a.source,
         ${momentSql("a.deleted_at")} as "deletedAt", a.is_purged as "isPurged",
         a.verified ->> 'backup' as "verifiedBackup", case a.kind ${STATUS} end as status
  from archives a`;

/** The id of an archive's work and of its part of the quotas. */
export function archiveKey(id: string): string {
  return `archive-${id}`;
}

/** Records that the instance has backups, or shall have them, with its order as it is now, and enqueues the archive. */
export async function ensureArchive(tx: Transaction, archive: ArchiveValues): Promise<void> {
  const { id, organizationId, hostId, kind, source } = archive;
  await enqueueArchive(tx, { id, hostId });
  await tx`
    insert into archives (id, organization_id, host_id, kind, source)
    values (${id}, ${organizationId}, ${hostId}, ${kind}, ${source}::jsonb)
    on conflict (id) do update set source = excluded.source`;
}

/** Has the reconciler look at an archive: what is due, and what is no longer kept. */
export async function enqueueArchive(
  tx: Queryable,
  { id, hostId }: Pick<ArchiveRow, "id" | "hostId">,
): Promise<void> {
  await enqueue(tx, { kind: ARCHIVES, id: archiveKey(id), hostId, deadlineSeconds: 600 });
}

/**
 * Records that the instance is being deleted, with its order as it is now. Does nothing for an instance without an
 * archive.
 */
export async function markArchiveDeleted(
  tx: Transaction,
  id: string,
  { source, isPurged }: { source: ArchiveSource; isPurged: boolean },
): Promise<void> {
  await tx`
    update archives
    set source = ${source}::jsonb, deleted_at = coalesce(deleted_at, now()), is_purged = is_purged or ${isPurged}
    where id = ${id}`;
}

/** Has the backups of a deleted instance be deleted as well. @returns whether nobody had asked for that before. */
export async function markArchivePurged(
  tx: Transaction,
  { id, hostId }: Pick<ArchiveRow, "id" | "hostId">,
): Promise<boolean> {
  // The work is locked first, as by the result of a run.
  await enqueueArchive(tx, { id, hostId });
  const rows = await tx`update archives set is_purged = true where id = ${id} and not is_purged returning id`;
  return rows.length > 0;
}

/** Has the reconciler look at the archive of an instance of which nothing is left; there need not be an archive. */
export async function enqueueArchiveOf(tx: Transaction, id: string): Promise<void> {
  const [row] = await tx<{ hostId: string }[]>`select host_id as "hostId" from archives where id = ${id}`;
  if (row !== undefined) await enqueueArchive(tx, { id, hostId: row.hostId });
}

/** The organization's archive with this id. */
export async function findArchive<Source extends ArchiveSource>(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<ArchiveRow<Source> | undefined> {
  const [row] = await db<ArchiveRow<Source>[]>`
    ${db.unsafe(SELECT)} where a.id = ${id} and a.organization_id = ${organizationId}`;
  return row;
}

/** Any organization's archive, for the reconciler. */
export async function loadArchive(db: Queryable, id: string): Promise<ArchiveRow | undefined> {
  const [row] = await db<ArchiveRow[]>`${db.unsafe(SELECT)} where a.id = ${id}`;
  return row;
}

/** The archives of an organization, of these kinds, the oldest first. */
export async function listArchives(
  db: Database,
  organizationId: string,
  kinds: readonly BackedUpKind[],
  { first, size }: { first: number; size: number },
): Promise<{ rows: ArchiveRow[]; total: number }> {
  const among = db`organization_id = ${organizationId} and kind = any(${db.array([...kinds], "text")})`;
  const [rows, counted] = await Promise.all([
    db<ArchiveRow[]>`
      ${db.unsafe(SELECT)} where a.id = any(array(
        select id from archives where ${among} order by id limit ${size} offset ${first})) order by a.id`,
    db<{ total: number }[]>`select count(*)::int as total from archives where ${among}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** Removes the row of an archive of which nothing is left, and then its part of the quotas. */
export async function eraseArchive(tx: Transaction, id: string): Promise<void> {
  await tx`delete from archives where id = ${id}`;
  await tx`delete from allocations where resource_id = ${archiveKey(id)}`;
}

/**
 * Records how many bytes archives take at one target, for the quotas of their organizations. Only rows that differ are
 * written, and none of an archive that is being removed.
 */
export async function recordArchiveBytes(
  db: Database,
  bytes: readonly { id: string; storedBytes: number }[],
): Promise<void> {
  await db`
    insert into allocations (resource_id, organization_id, kind, memory_bytes, storage_bytes)
    select 'archive-' || a.id, a.organization_id, 'archives', 0, seen."storedBytes"
    from json_to_recordset(${JSON.stringify(bytes)}::text::json) as seen (id text, "storedBytes" bigint)
    join archives a on a.id = seen.id order by a.organization_id, a.id for key share of a
    on conflict (resource_id) do update set storage_bytes = excluded.storage_bytes
    where allocations.storage_bytes <> excluded.storage_bytes`;
}
