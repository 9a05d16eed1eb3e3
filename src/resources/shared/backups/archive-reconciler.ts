// Keeps the archive of an instance as its order says: takes the backups that are due, and deletes what is no longer kept.
import type { ArchiveState, Retention } from "../../../contracts/keeper.ts";
import type { Driver } from "../../../drivers/driver.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { newId } from "../../../lib/ids.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import {
  eraseArchive,
  loadArchive,
  type ArchiveRow,
  type ArchiveSource,
  type BackedUpKind,
} from "./archives.ts";
import { againAtMs, nextBackupMs, type BackupPolicy } from "./policy.ts";
import { isReleased, retentionOf } from "./retention.ts";
import { restoresFrom } from "./restores.ts";
import { eraseSnapshots, insertSnapshot, snapshotsOf, type SnapshotRow } from "./snapshots.ts";

/** How soon an instance is looked at again that is not available: soon while it is on its way there. */
const PAUSE_MS = { onItsWay: 5_000, otherwise: 600_000 };

/** How soon an archive is looked at again that is to be removed, but from which something is being restored. */
const RESTORE_PAUSE_MS = 5_000;
const ON_ITS_WAY = new Set(["creating", "restoring", "updating", "restarting"]);

/** The policy of an instance by its order; null for an instance without scheduled backups. */
type PolicyOf = (kind: BackedUpKind, source: ArchiveSource) => BackupPolicy | null;

/** The reconciler of archives. */
export function reconcileArchive(
  { db, hosts }: Pick<KindContext, "db" | "hosts">,
  policyOf: PolicyOf,
): Reconcile {
  return async (workId) => {
    const row = await loadArchive(db, workId.slice(workId.indexOf("-") + 1));
    if (row === undefined) return { result: "gone" };
    const host = hosts.of(row.hostId);
    const snapshots = await snapshotsOf(db, row.id);
    const restores = await restoresFrom(db, row.id);
    const removal = async () =>
      restores.length === 0
        ? await remove(host.driver, row, snapshots)
        : settledAt(Date.now() + RESTORE_PAUSE_MS, []);
    if (row.status === null && row.isPurged) return await removal();
    const policy = policyOf(row.kind, row.source);
    const retention = retentionOf({ row, policy, snapshots, restores }, Date.now());
    const state = await retained(host.driver, row.id, retention);
    await failpoint("archive.retained");
    const gone = snapshots.filter((snapshot) => isGone(snapshot, row, { state, retention }));
    const isEmpty = snapshots.length === gone.length && row.status === null;
    if (isEmpty && !isWithinRetention(row, policy)) return await removal();
    return await settle(host, { row, policy, snapshots, state, gone });
  };
}

/** Deletes what is no longer kept. @returns the state of the archive afterwards; null for an archive without anything yet. */
async function retained(driver: Driver, id: string, retention: Retention): Promise<ArchiveState | null> {
  if ((await driver.archive(id)) === null) return null;
  await driver.retain(id, retention);
  return await driver.archive(id);
}

/**
 * Whether a snapshot has nothing: retention has deleted its backup, or it failed and nobody can make it any more. An
 * archive with a fault may have backups that it does not show, such as those of a target that is away.
 */
function isGone(
  snapshot: SnapshotRow,
  { deletedAt }: ArchiveRow,
  { state, retention }: { state: ArchiveState | null; retention: Retention },
): boolean {
  const { id, type, status } = snapshot;
  if (status === "failed") return deletedAt !== null;
  if (type !== "scheduled" || status !== "available" || state === null) return false;
  if (state.backups.some((backup) => backup.id === id)) return false;
  return state.lastError === null || isReleased(snapshot, retention, state.backups);
}

/** Whether backups of a deleted instance are still kept for its retention. */
function isWithinRetention({ deletedAt }: ArchiveRow, policy: BackupPolicy | null): boolean {
  if (deletedAt === null || policy === null) return false;
  return Date.parse(deletedAt) + policy.retentionDays * 86_400_000 > Date.now();
}

interface Found {
  row: ArchiveRow;
  policy: BackupPolicy | null;
  snapshots: SnapshotRow[];
  state: ArchiveState | null;
  gone: SnapshotRow[];
}

async function settle(host: ServedHost, { row, policy, snapshots, state, gone }: Found): Promise<Outcome> {
  const nowMs = Date.now();
  const scheduled = snapshots.filter(({ type }) => type === "scheduled");
  const latest = scheduled.at(-1);
  const isUnderWay = scheduled.some(({ status }) => status === "pending" || status === "creating");
  const erase = (failed: SnapshotRow[]) => [...gone, ...failed];
  // Without a policy, nothing changes by the clock alone.
  if (policy === null) return settledAt(null, erase([]));
  // A backup under way enqueues the archive when it ends.
  if (row.deletedAt !== null || isUnderWay) return settledAt(againAtMs(null, nowMs), erase([]));
  if (row.status !== "available") {
    const isOnItsWay = ON_ITS_WAY.has(row.status ?? "");
    return settledAt(nowMs + PAUSE_MS[isOnItsWay ? "onItsWay" : "otherwise"], erase([]));
  }
  const sleep = host.observedStates.of(row.id)?.sleep ?? null;
  const backlog = {
    policy,
    state,
    latest:
      latest === undefined
        ? null
        : {
            createdAtMs: Date.parse(latest.createdAt),
            hasFailed: latest.status === "failed",
          },
    asleepSinceMs: sleep?.state === "asleep" ? Date.parse(sleep.since) : null,
  };
  const nextMs = nextBackupMs(backlog, nowMs);
  if (nextMs > nowMs) return settledAt(againAtMs(nextMs, nowMs), erase([]));
  // Of attempts that failed, only the latest is kept.
  const failed = scheduled.filter(({ status }) => status === "failed");
  return settledAt(againAtMs(null, nowMs), erase(failed), row);
}

/** @param due the archive for which a scheduled snapshot is begun. */
function settledAt(againMs: number | null, erased: SnapshotRow[], due?: ArchiveRow): Outcome {
  return {
    result: { settled: true, ...(againMs !== null && { againAt: new Date(againMs) }) },
    write: async (tx) => {
      if (due !== undefined) {
        const { id: archiveId, organizationId, hostId, kind } = due;
        const values = { archiveId, organizationId, hostId, kind, name: null, description: null };
        await insertSnapshot(tx, { ...values, id: newId("snapshot"), type: "scheduled" });
      }
      await eraseSnapshots(tx, erased);
    },
  };
}

async function remove(driver: Driver, row: ArchiveRow, snapshots: SnapshotRow[]): Promise<Outcome> {
  await driver.deleteArchive(row.id);
  await failpoint("archive.removed");
  return {
    result: "gone",
    write: async (tx) => {
      await eraseSnapshots(tx, snapshots);
      await eraseArchive(tx, row.id);
    },
  };
}
