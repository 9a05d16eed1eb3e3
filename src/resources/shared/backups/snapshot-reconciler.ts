// Makes and deletes the backups of snapshots. A run after a kill repeats the step; the driver finds what is done already.
import type { Driver } from "../../../drivers/driver.ts";
import { PublicError } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import type { Database } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { watchObsolete } from "../obsolescence-watch.ts";
import { enqueueArchive } from "./archives.ts";
import {
  eraseSnapshots,
  isDeleting,
  loadSnapshot,
  markCreating,
  markFailing,
  writeSnapshot,
  type SnapshotRow,
} from "./snapshots.ts";

/** How long a backup is tried again after its first refusal. */
const TRIED_MS = 60_000;

/** The reconciler of snapshots. */
export function reconcileSnapshot({ db, hosts }: Pick<KindContext, "db" | "hosts">): Reconcile {
  return async (id, signal) => {
    const row = await loadSnapshot(db, id);
    if (row === undefined) return { result: "gone" };
    const { driver } = hosts.of(row.hostId);
    if (row.status === "deleting") return await remove(driver, row);
    if (row.status === "available" || row.status === "failed") return { result: { settled: true } };
    await markCreating(db, id);
    await failpoint("snapshot.creating");
    return await make(db, driver, row, signal);
  };
}

async function make(db: Database, driver: Driver, row: SnapshotRow, signal: AbortSignal): Promise<Outcome> {
  const { id, archiveId } = row;
  const watch = watchObsolete(() => isDeleting(db, id), signal);
  try {
    const { storedBytes, completedAt } = await driver.backUp(
      archiveId,
      id,
      AbortSignal.any([signal, watch.obsolete]),
    );
    await failpoint("snapshot.made");
    return {
      result: { settled: true },
      write: async (tx) => {
        await enqueueArchive(tx, { id: archiveId, hostId: row.hostId });
        await writeSnapshot(tx, row, { status: "available", storageBytes: storedBytes, completedAt });
      },
    };
  } catch (error) {
    if (watch.obsolete.aborted) return { result: { settled: false, retryMs: 0, lastError: null } };
    if (signal.aborted || !(await isFinal(db, driver, row, error))) throw error;
    const reason = error instanceof PublicError ? error.message : "The backup could not be made.";
    return {
      result: { settled: true },
      write: async (tx) => {
        await enqueueArchive(tx, { id: archiveId, hostId: row.hostId });
        await writeSnapshot(tx, row, { status: "failed", error: reason });
      },
    };
  } finally {
    watch.end();
  }
}

/** Whether to give up: the driver can be reached, and has refused the backup for a while. Notes a first refusal. */
async function isFinal(
  db: Database,
  driver: Driver,
  { id, archiveId, failingSince }: SnapshotRow,
  error: unknown,
): Promise<boolean> {
  if (!(error instanceof PublicError)) return false;
  const isReachable = await driver.observe(archiveId).then(
    () => true,
    () => false,
  );
  if (!isReachable) return false;
  if (failingSince === null) await markFailing(db, id);
  return failingSince !== null && Date.now() >= Date.parse(failingSince) + TRIED_MS;
}

async function remove(driver: Driver, row: SnapshotRow): Promise<Outcome> {
  await driver.deleteBackup(row.archiveId, row.id);
  await failpoint("snapshot.removed");
  return {
    result: "gone",
    write: async (tx) => {
      await enqueueArchive(tx, { id: row.archiveId, hostId: row.hostId });
      await eraseSnapshots(tx, [row]);
    },
  };
}
