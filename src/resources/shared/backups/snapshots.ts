// The rows of snapshots: every SQL statement about them. A snapshot is a backup with a name and a status.
import { forgetResource } from "../../../api/operation/idempotency.ts";
import type { Page } from "../../../api/jsonapi/pagination.ts";
import { enqueue } from "../../../reconciler/queue.ts";
import type { Database, Queryable, Transaction } from "../../../store/database.ts";
import { notify } from "../../../store/notifications.ts";
import { recordEvent, type NewEvent } from "../events/record.ts";
import { momentSql } from "../moments.ts";
import type { ArchiveSource, BackedUpKind } from "./archives.ts";

/** The kind of snapshots in the work queue. */
export const SNAPSHOTS = "snapshots";

/** The time in which a snapshot should be made; later it counts as overdue. */
const DEADLINE_SECONDS = 3_600;

export const snapshotStatuses = ["pending", "creating", "available", "failed", "deleting"] as const;

export type SnapshotStatus = (typeof snapshotStatuses)[number];

interface SnapshotValues {
  /** The id of the backup as well. */
  id: string;
  archiveId: string;
  organizationId: string;
  hostId: string;
  kind: BackedUpKind;
  /** Null for a scheduled snapshot. */
  name: string | null;
  description: string | null;
  type: "manual" | "scheduled";
}

export interface SnapshotRow extends SnapshotValues {
  status: SnapshotStatus;
  storageBytes: number | null;
  /** The moment that its data is from, UTC with microseconds, ISO 8601; null before it is available. */
  completedAt: string | null;
  createdAt: string;
  /** Why it failed, or why the latest attempt did. */
  lastError: string | null;
  /** When the host refused its backup first; null when it has not. */
  failingSince: string | null;
  /** The order of the instance as it was last. */
  source: ArchiveSource;
  /** Whether its instance was not deleted. */
  isAlive: boolean;
}

/** A constant, safe to insert into a statement. */
const SELECT = `
  select s.id, s.archive_id as "archiveId", s.organization_id as "organizationId", s.host_id as "hostId", s.kind,
         s.name, s.description, s.type, s.status, s.storage_bytes::float8 as "storageBytes",
         ${momentSql("s.completed_at")} as "completedAt", ${momentSql("s.created_at")} as "createdAt",
         coalesce(s.last_error, w.last_error) as "lastError", ${momentSql("s.failing_since")} as "failingSince",
         a.source, a.deleted_at is null as "isAlive"
  from snapshots s join archives a on a.id = s.archive_id
  left join work w on w.kind = '${SNAPSHOTS}' and w.id = s.id`;

/** The type of a snapshot's resource in the API. */
export const SNAPSHOT_TYPES = {
  caches: "cache_snapshots",
  databases: "database_snapshots",
} as const satisfies Record<BackedUpKind, string>;

/** A snapshot as its events name it. */
export function snapshotResource({
  kind,
  id,
  name,
  source,
}: Pick<SnapshotRow, "kind" | "id" | "name" | "source">): NewEvent["resource"] {
  return { type: SNAPSHOT_TYPES[kind], id, name: name ?? `of ${source.name}` };
}

/** Adds a snapshot in the status `pending`, with its work. */
export async function insertSnapshot(tx: Transaction, values: SnapshotValues): Promise<void> {
  const { id, archiveId, organizationId, hostId, kind, name, description, type } = values;
  await tx`
    insert into snapshots (id, archive_id, organization_id, host_id, kind, name, description, type)
    values (${id}, ${archiveId}, ${organizationId}, ${hostId}, ${kind}, ${name}, ${description}, ${type})`;
  await enqueueSnapshot(tx, { id, hostId });
}

/** Has the reconciler make or delete a snapshot. */
async function enqueueSnapshot(tx: Queryable, { id, hostId }: { id: string; hostId: string }): Promise<void> {
  await enqueue(tx, { kind: SNAPSHOTS, id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}

/** The organization's snapshot with this id, of an instance of this kind. */
export async function findSnapshot(
  db: Queryable,
  organizationId: string,
  kind: BackedUpKind,
  id: string,
): Promise<SnapshotRow | undefined> {
  const [row] = await db<SnapshotRow[]>`
    ${db.unsafe(SELECT)} where s.id = ${id} and s.organization_id = ${organizationId} and s.kind = ${kind}`;
  return row;
}

/** Any organization's snapshot, for the reconciler. */
export async function loadSnapshot(db: Queryable, id: string): Promise<SnapshotRow | undefined> {
  const [row] = await db<SnapshotRow[]>`${db.unsafe(SELECT)} where s.id = ${id}`;
  return row;
}

/** A page of the snapshots of an archive, the oldest first, and the number of snapshots on all pages. */
export async function listSnapshots(
  db: Database,
  archiveId: string,
  page: Page,
): Promise<{ rows: SnapshotRow[]; total: number }> {
  const [rows, counted] = await Promise.all([
    db<SnapshotRow[]>`
      ${db.unsafe(SELECT)} where s.archive_id = ${archiveId}
      order by s.id limit ${page.size} offset ${(page.number - 1) * page.size}`,
    db<{ total: number }[]>`select count(*)::int as total from snapshots where archive_id = ${archiveId}`,
  ]);
  return { rows, total: counted[0]?.total ?? 0 };
}

/** All snapshots of an archive, the oldest first. */
export async function snapshotsOf(db: Queryable, archiveId: string): Promise<SnapshotRow[]> {
  return await db<SnapshotRow[]>`${db.unsafe(SELECT)} where s.archive_id = ${archiveId} order by s.id`;
}

/** How many snapshots of this archive somebody has asked for. */
export async function countManualSnapshots(db: Queryable, archiveId: string): Promise<number> {
  const [row] = await db<{ total: number }[]>`
    select count(*)::int as total from snapshots where archive_id = ${archiveId} and type = 'manual'`;
  return row?.total ?? 0;
}

/** Records that the backup is being made. */
export async function markCreating(db: Queryable, id: string): Promise<void> {
  const rows = await db`
    update snapshots set status = 'creating' where id = ${id} and status = 'pending' returning id`;
  if (rows.length > 0) await notify(db, "status", id);
}

/** Records that the host refuses the backup from now on, unless it has refused it before. */
export async function markFailing(db: Queryable, id: string): Promise<void> {
  await db`update snapshots set failing_since = now() where id = ${id} and failing_since is null`;
}

/** Whether somebody has asked for the deletion of the snapshot. */
export async function isDeleting(db: Queryable, id: string): Promise<boolean> {
  const rows = await db`select from snapshots where id = ${id} and status = 'deleting'`;
  return rows.length > 0;
}

/** What a run has found out about a snapshot. */
type SnapshotResult =
  | { status: "available"; storageBytes: number; completedAt: string }
  | { status: "failed"; error: string };

/** Writes the result of a run with its event. A request to delete that arrived meanwhile stays. */
export async function writeSnapshot(
  tx: Transaction,
  row: SnapshotRow,
  result: SnapshotResult,
): Promise<void> {
  const { id, organizationId } = row;
  const made = result.status === "available" ? result : null;
  const error = result.status === "failed" ? result.error : null;
  const rows = await tx`
    update snapshots
    set status = ${result.status}, storage_bytes = ${made?.storageBytes ?? null},
        completed_at = ${made?.completedAt ?? null}::timestamptz, last_error = ${error}
    where id = ${id} and status <> 'deleting' returning id`;
  await notify(tx, "status", id);
  if (rows.length === 0) return;
  const details = error === null ? {} : { reason: error };
  await recordEvent(tx, { organizationId, type: result.status, resource: snapshotResource(row), details });
}

/** Marks a snapshot for deletion. @returns false when nothing is left of it. */
export async function markSnapshotDeleting(tx: Transaction, { id, hostId }: SnapshotRow): Promise<boolean> {
  // The work row is locked first, as by the result of a run.
  await enqueueSnapshot(tx, { id, hostId });
  const rows = await tx`update snapshots set status = 'deleting' where id = ${id} returning id`;
  await notify(tx, "status", id);
  return rows.length > 0;
}

/** Removes all rows of snapshots whose backups are gone, and last writes their events. */
export async function eraseSnapshots(tx: Transaction, rows: readonly SnapshotRow[]): Promise<void> {
  for (const { id } of rows) {
    await tx`delete from work where kind = ${SNAPSHOTS} and id = ${id} and owner is null`;
    await tx`delete from snapshots where id = ${id}`;
    await forgetResource(tx, id);
    await notify(tx, "status", id);
  }
  for (const row of rows) {
    const { organizationId } = row;
    await recordEvent(tx, { organizationId, type: "deleted", resource: snapshotResource(row) });
  }
}
