// Creates and deletes snapshots at a request: one transaction with the row, the work item, and the audit.
import { invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { createOnce } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { newId } from "../../../lib/ids.ts";
import type { KindContext } from "../../kind.ts";
import { lockInstance, type InstanceSearch } from "../desired-state.ts";
import { recordRequest } from "../events/record.ts";
import { refuseFullStorage } from "../quotas.ts";
import type { Made } from "../routed-resource.ts";
import type { NewSnapshot } from "../snapshot-schema.ts";
import { ensureArchive, type ArchiveSource, type BackedUpKind } from "./archives.ts";
import { refuseAsSource, type CopiedInstance } from "./origin.ts";
import type { BackupPolicy } from "./policy.ts";
import { restoresFrom, type Restore } from "./restores.ts";
import {
  countManualSnapshots,
  findSnapshot,
  insertSnapshot,
  markSnapshotDeleting,
  SNAPSHOT_TYPES,
  snapshotResource,
  snapshotsOf,
  type SnapshotRow,
} from "./snapshots.ts";

/** The most snapshots of one instance that somebody has asked for. */
const MAX_SNAPSHOTS = 100;

/** An instance whose snapshots are made. */
interface SnapshotSource<Row> {
  kind: BackedUpKind;
  search: InstanceSearch<Row>;
  sourceOf(row: Row): ArchiveSource;
}

/**
 * Creates the requested snapshot, or finds the snapshot that the same Idempotency-Key created before.
 * @throws ApiError 404, 409 when the data of the instance cannot be copied, or 422 when there are too many.
 */
export async function createSnapshot<Row extends { id: string; hostId: string } & CopiedInstance>(
  { db, quotas }: KindContext,
  { kind, search, sourceOf }: SnapshotSource<Row>,
  request: OperationRequest<NewSnapshot, unknown, { id: string }>,
): Promise<Made<SnapshotRow>> {
  const { principal, requestId, body, params, idempotency } = request;
  const { organizationId } = principal;
  const id = newId("snapshot");
  const find = async (tx: Parameters<typeof findSnapshot>[0], madeId: string) =>
    await findSnapshot(tx, organizationId, kind, madeId);
  return await createOnce<SnapshotRow>(db, {
    organizationId,
    kind: SNAPSHOT_TYPES[kind],
    id,
    request: idempotency,
    async create(tx) {
      const row = await lockInstance(tx, search, organizationId, params.id);
      refuseAsSource(row, search.noun);
      if ((await countManualSnapshots(tx, row.id)) >= MAX_SNAPSHOTS) throw tooMany(search.noun);
      const { hostId } = row;
      await ensureArchive(tx, { id: row.id, organizationId, hostId, kind, source: sourceOf(row) });
      const { name, description = null } = body;
      const values = { id, archiveId: row.id, organizationId, hostId, kind, name, description };
      await insertSnapshot(tx, { ...values, type: "manual" });
      const made = await find(tx, id);
      if (made === undefined) throw new Error("an insert gave no row");
      const event = { type: "created" as const, resource: snapshotResource(made) };
      const details = { ...body, [kind]: row.id };
      await recordRequest(tx, {
        principal,
        requestId,
        action: "create",
        kind: SNAPSHOT_TYPES[kind],
        details,
        event,
      });
      await refuseFullStorage(tx, quotas, principal, "name");
      await failpoint("snapshot.written");
      return made;
    },
    find,
  });
}

function tooMany(noun: string) {
  return invalid({
    name: [`The ${noun} has ${MAX_SNAPSHOTS} snapshots, the most that it may have. Delete one first.`],
  });
}

/** The kind of a snapshot that is deleted. */
interface SnapshotDeletion {
  kind: BackedUpKind;
  policyOf(source: ArchiveSource): BackupPolicy | null;
}

/**
 * Marks the organization's snapshot for deletion; a repeated call changes nothing.
 * @throws ApiError 404, or 422 for a snapshot that the schedule needs or that is being restored.
 */
export async function deleteSnapshot(
  { db }: KindContext,
  { kind, policyOf }: SnapshotDeletion,
  request: OperationRequest<unknown, unknown, { id: string }>,
): Promise<void> {
  const { principal, requestId, params } = request;
  await db.begin(async (tx) => {
    const row = await findSnapshot(tx, principal.organizationId, kind, params.id);
    if (row === undefined) throw notFound("snapshot");
    if (row.status === "deleting") return;
    refuseScheduled(row, policyOf(row.source));
    const restores = await restoresFrom(tx, row.archiveId);
    const snapshots = await snapshotsOf(tx, row.archiveId);
    if (restores.some((restore) => baseOf(restore, snapshots) === row.id)) throw isBeingRestored();
    if (!(await markSnapshotDeleting(tx, row))) throw notFound("snapshot");
    const event = { type: "deleting" as const, resource: snapshotResource(row) };
    const record = { principal, requestId, action: "delete", kind: SNAPSHOT_TYPES[kind], details: {}, event };
    await recordRequest(tx, record);
  });
}

function refuseScheduled(row: SnapshotRow, policy: BackupPolicy | null): void {
  if (row.type !== "scheduled" || !row.isAlive || policy?.keepsLog !== true) return;
  throw invalid({
    id: ["Automatic backups cannot be deleted while point-in-time recovery is enabled."],
  });
}

/** The snapshot that a restore reads first: for an instant the latest before it, as far as the log goes on from there. */
function baseOf({ backup, at }: Restore, snapshots: readonly SnapshotRow[]): string | undefined {
  if (at === null) return backup ?? undefined;
  const before = snapshots.filter((snapshot) => completedMsOf(snapshot) <= Date.parse(at));
  return before.toSorted((a, b) => completedMsOf(a) - completedMsOf(b)).at(-1)?.id;
}

function completedMsOf({ status, completedAt }: SnapshotRow): number {
  return status === "available" && completedAt !== null ? Date.parse(completedAt) : Infinity;
}

function isBeingRestored() {
  return invalid({ id: ["A restore reads from this snapshot. Delete it when the restore has ended."] });
}
