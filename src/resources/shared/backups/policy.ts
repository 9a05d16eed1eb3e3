// When backups are due, and which are kept: decided from the order of an instance and the state of its archive alone.
import type { ArchiveState, BackupInfo } from "../../../contracts/keeper.ts";
import type { BackupPolicy } from "../../kind.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const MEBIBYTE = 1024 ** 2;

/** A tenth of the data, within these bounds: a restore replays so much log in less than a minute. */
const LONG_LOG_BYTES = { least: 256 * MEBIBYTE, most: 1024 * MEBIBYTE };

/** A sleep with its wake leaves some kilobytes of log, which are no change of a customer. */
const UNCHANGED_LOG_BYTES = 64 * 1024;

/** The pause after a scheduled backup that failed. */
const RETRY_MS = 10 * MINUTE_MS;

/** The pause after a backup that the log does not go on from: what came since cannot be restored until the next. */
const ANEW_MS = MINUTE_MS;

/** How often retention is looked at. */
const RETENTION_MS = HOUR_MS;

export type { BackupPolicy } from "../../kind.ts";

/** What decides about the next backup. */
export interface Backlog {
  policy: BackupPolicy;
  state: ArchiveState | null;
  /** When the latest scheduled backup was begun, and whether it failed; null before the first. */
  latest: { createdAtMs: number; hasFailed: boolean } | null;
  /** When the instance fell asleep; null for an instance that is awake. */
  asleepSinceMs: number | null;
}

/** When the next scheduled backup is due; a time of the past means now. */
export function nextBackupMs({ policy, state, latest, asleepSinceMs }: Backlog, nowMs: number): number {
  const retryMs = latest?.hasFailed === true ? latest.createdAtMs + RETRY_MS : 0;
  const newest = state?.backups.at(-1);
  if (newest === undefined) return Math.max(latest?.createdAtMs ?? 0, retryMs);
  if (policy.keepsLog && state !== null && isLogLong(state)) return retryMs;
  const anewMs = latest === null ? 0 : latest.createdAtMs + ANEW_MS;
  if (policy.keepsLog && state !== null && lacksBackup(state)) return Math.max(anewMs, retryMs);
  const lastMs =
    policy.keepsLog && !policy.isDaily ? Date.parse(newest.completedAt) : (latest?.createdAtMs ?? 0);
  const dailyMs = Math.max(afterADay(lastMs, policy.startsAt), retryMs);
  const isChanged =
    policy.keepsLog && !policy.isDaily
      ? state !== null && isChangedSince(newest, state)
      : asleepSinceMs === null || asleepSinceMs > Date.parse(newest.completedAt);
  return isChanged ? dailyMs : Math.max(dailyMs, nowMs + RETENTION_MS);
}

/** Whether so much log has come since the newest backup that its replay would take long. */
export function isLogLong(state: ArchiveState): boolean {
  const newest = state.backups.at(-1);
  if (newest === undefined) return false;
  const { least, most } = LONG_LOG_BYTES;
  const bound = Math.min(most, Math.max(least, newest.dataBytes / 10));
  return logBytesSince(newest, state) > bound;
}

/** Whether more than a sleep with its wake has come into the log since a backup. */
export function isChangedSince(backup: BackupInfo, state: ArchiveState): boolean {
  return logBytesSince(backup, state) > UNCHANGED_LOG_BYTES;
}

/**
 * Whether no backup leads to the log: it was begun anew, or has a gap. While the log has yet to reach the newest backup,
 * that is not known.
 */
export function lacksBackup({ log, backups }: ArchiveState): boolean {
  const newest = backups.at(-1);
  if (log === null || log.earliestRestoreTime !== null) return false;
  const consistentAt = newest?.mysql?.endedAt ?? newest?.completedAt;
  return consistentAt === undefined || Date.parse(consistentAt) <= Date.parse(log.watermark.at);
}

/** When the archive should be looked at again. */
export function againAtMs(nextMs: number | null, nowMs: number): number {
  return Math.min(nextMs ?? Infinity, nowMs + RETENTION_MS);
}

/** The oldest instant that a policy keeps restorable. */
export function keepFromMs({ retentionDays }: BackupPolicy, nowMs: number): number {
  return nowMs - retentionDays * DAY_MS;
}

/** The bytes of log that the archive has got since the end of a backup. */
function logBytesSince({ postgres }: BackupInfo, state: ArchiveState | null): number {
  const log = state?.log ?? null;
  if (log?.bytesSinceBackup !== undefined) return log.bytesSinceBackup;
  return postgres === null || log === null ? 0 : bytesOf(log.watermark.lsn) - bytesOf(postgres.endLsn);
}

/** A position in a log, such as `1/3000148`, in bytes. */
function bytesOf(lsn: string): number {
  const [high = "0", low = "0"] = lsn.split("/");
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

/** A day later; with a time of the day, the first such time that is at least half a day later. */
function afterADay(lastMs: number, startsAt: string | null): number {
  if (startsAt === null) return lastMs + DAY_MS;
  const [hours = 0, minutes = 0] = startsAt.split(":").map(Number);
  const ofDayMs = hours * HOUR_MS + minutes * MINUTE_MS;
  const leastMs = lastMs + DAY_MS / 2;
  const sameDayMs = Math.floor(leastMs / DAY_MS) * DAY_MS + ofDayMs;
  return sameDayMs >= leastMs ? sameDayMs : sameDayMs + DAY_MS;
}
