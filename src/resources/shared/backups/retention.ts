// What an archive keeps: decided from its policy, its snapshots, and the restores that read from it.
import type { BackupInfo, Retention } from "../../../contracts/keeper.ts";
import type { ArchiveRow } from "./archives.ts";
import { keepFromMs, type BackupPolicy } from "./policy.ts";
import type { Restore } from "./restores.ts";
import type { SnapshotRow } from "./snapshots.ts";

/** What decides about retention. */
export interface Kept {
  row: Pick<ArchiveRow, "deletedAt" | "verifiedBackup">;
  policy: BackupPolicy | null;
  snapshots: readonly Pick<SnapshotRow, "id" | "type">[];
  /** The restores under way. */
  restores: readonly Restore[];
}

/**
 * What to keep. With a policy that is the window before now, and each snapshot that somebody has asked for, and the latest
 * backup that was restored without a fault. After a
 * policy was taken away, its snapshots stay until somebody deletes them; its log goes. A deleted instance keeps its
 * window for as many days after its deletion as its policy has.
 */
export function retentionOf({ row, policy, snapshots, restores }: Kept, nowMs: number): Retention {
  const isOver = isPast(row.deletedAt, policy, nowMs);
  const fromMs = policy === null || isOver ? [] : [keepFromMs(policy, nowMs)];
  const all = [...fromMs, ...restores.flatMap(({ at }) => (at === null ? [] : [Date.parse(at)]))];
  const isKept = (type: SnapshotRow["type"]) =>
    type === "manual" || (policy === null && row.deletedAt === null);
  const kept = snapshots.filter(({ type }) => isKept(type)).map(({ id }) => id);
  // A backup that is known to be sound is worth more than newer ones that are not.
  const verified = fromMs.length === 0 || row.verifiedBackup === null ? [] : [row.verifiedBackup];
  const read = restores.flatMap(({ backup }) => (backup === null ? [] : [backup]));
  return {
    keepFrom: all.length === 0 ? null : new Date(Math.min(...all)).toISOString(),
    keepBackups: [...new Set([...kept, ...verified, ...read])],
  };
}

/**
 * Whether a snapshot is no longer kept: a later backup reaches back as far as the window.
 * @param backups of the archive, as far as they are known.
 */
export function isReleased(
  { id, completedAt }: Pick<SnapshotRow, "id" | "completedAt">,
  { keepFrom, keepBackups }: Retention,
  backups: readonly Pick<BackupInfo, "completedAt">[],
): boolean {
  if (completedAt === null || keepBackups.includes(id)) return false;
  if (keepFrom === null) return true;
  const momentMs = Date.parse(completedAt);
  const later = backups.map((backup) => Date.parse(backup.completedAt)).filter((ms) => ms > momentMs);
  return later.some((ms) => ms <= Date.parse(keepFrom));
}

/** Whether the retention of a deleted instance is over. */
function isPast(deletedAt: string | null, policy: BackupPolicy | null, nowMs: number): boolean {
  if (deletedAt === null || policy === null) return false;
  return keepFromMs(policy, nowMs) >= Date.parse(deletedAt);
}
