// Renders backups, restores and origins for answers, from the states that the driver reported last.
import type { ArchiveState, BackupInfo } from "../../../contracts/keeper.ts";
import type { ServedHost, Verification, VerificationState } from "../../kind.ts";
import type { BackupsDocument, BackupState, OriginState, RestoreProgress } from "../backup-schema.ts";
import type { StoredOrigin } from "./origin.ts";

type ArchivedHost = Pick<ServedHost, "archiveStates">;

/** The reason itself is for the operator alone, since it may name targets. */
const NOT_STORED =
  "Backups cannot be stored at the moment. The operator finds the reason with `pilvi doctor`.";

/** The member `backup` of a resource's `meta`. */
export function renderBackup(
  id: string,
  { archiveStates }: ArchivedHost,
  state = archiveStates.of(id),
): BackupState {
  const { latest, sound } = archiveStates.verificationOf(id);
  if (state === undefined) return null;
  return {
    lag_seconds: state.log?.lagSeconds ?? null,
    latest_restore_time: windowOf(state)?.latest ?? null,
    last_backup_at: state.backups.at(-1)?.completedAt ?? null,
    stored_bytes: state.storedBytes,
    verified_at: sound?.endedAt ?? null,
    verified_restore_seconds: sound?.restoreSeconds ?? null,
    last_error: state.lastError === null ? faultIn(latest) : NOT_STORED,
  };
}

function faultIn(latest: Verification | null): string | null {
  const [fault] = latest?.faults ?? [];
  return fault === undefined ? null : `The latest verified restore found a fault: ${fault}`;
}

/** The instants that can be restored; null when there are none. */
export function windowOf({ log }: ArchiveState): { earliest: string; latest: string } | null {
  const earliest = log?.earliestRestoreTime ?? null;
  if (log === null || earliest === null) return null;
  return { earliest, latest: log.watermark.at };
}

/** What lists and single answers have in common. */
export function renderSummary(id: string, host: ArchivedHost, state = host.archiveStates.of(id)) {
  const backup = renderBackup(id, host, state);
  return {
    window: state === undefined ? null : windowOf(state),
    lag_seconds: backup?.lag_seconds ?? null,
    stored_bytes: backup?.stored_bytes ?? 0,
    last_backup_at: backup?.last_backup_at ?? null,
    verified_at: backup?.verified_at ?? null,
    verified_restore_seconds: backup?.verified_restore_seconds ?? null,
    last_error: backup?.last_error ?? null,
  };
}

/** The answer about the backups of one instance. @param state of its archive. */
export function renderBackups(
  id: string,
  host: ArchivedHost,
  state: ArchiveState | undefined,
): BackupsDocument["data"] {
  const backups = state?.backups ?? [];
  return {
    ...renderSummary(id, host, state),
    backups: backups.map(renderOne),
    gaps: state?.log?.gaps ?? [],
    verification: renderVerification(host.archiveStates.verificationOf(id)),
  };
}

function renderOne(backup: BackupInfo): BackupsDocument["data"]["backups"][number] {
  const { id, completedAt, isHot, engine, databases, dataBytes, storedBytes } = backup;
  return {
    id,
    completed_at: completedAt,
    is_hot: isHot,
    engine: { name: engine.name, version: engine.version },
    databases,
    data_bytes: dataBytes,
    stored_bytes: storedBytes,
  };
}

function renderVerification({ latest, error }: VerificationState): BackupsDocument["data"]["verification"] {
  return {
    ended_at: latest?.endedAt ?? null,
    backup: latest?.backup ?? null,
    restore_time: latest?.at ?? null,
    bytes: latest?.bytes ?? 0,
    restore_seconds: latest?.restoreSeconds ?? null,
    check_seconds: latest?.checkSeconds ?? null,
    checked: latest?.checked ?? 0,
    is_complete: latest?.isComplete ?? false,
    faults: latest?.faults ?? [],
    last_error: error,
  };
}

/** The member `origin` of a resource's `meta`. */
export function renderOrigin(origin: StoredOrigin | null): OriginState {
  if (origin === null) return null;
  const { from } = origin;
  if ("instance" in from) return { source: from.instance, snapshot: null, restore_time: null };
  const isBackup = "backup" in from;
  return {
    source: from.archive,
    snapshot: isBackup ? from.backup : null,
    restore_time: isBackup ? null : from.at,
  };
}

interface Restored {
  id: string;
  status: string;
  createdAt: string;
}

/** The member `restore` of a resource's `meta`. The rest is expected to go on as fast as it went so far. */
export function renderRestore(
  { id, status, createdAt }: Restored,
  { observedStates }: Pick<ServedHost, "observedStates">,
): RestoreProgress {
  const progress = observedStates.of(id)?.restoring;
  if (status !== "restoring" || progress === undefined) return null;
  const { doneBytes, totalBytes } = progress;
  const elapsedMs = Date.now() - Date.parse(createdAt);
  const restBytes = Math.max(0, totalBytes - doneBytes);
  return {
    done_bytes: doneBytes,
    total_bytes: totalBytes,
    estimate_seconds: doneBytes === 0 ? null : Math.ceil((elapsedMs * restBytes) / doneBytes / 1_000),
  };
}
