// Plans a restore: which backup, which segments, and how far the replay must come. A plan is refused rather than one
// that would end in older data than asked for.
import { PublicError } from "../../lib/errors.ts";
import type { BackupInfo, PlanRefusalCode, RestorePlan, RestoreTarget } from "../../contracts/keeper.ts";
import { binlogName, bytesSince, FILE_SPACE, placeOf } from "./binlog-chain.ts";
import { chainOf, promisedEnd, timelineOf, type Gap, type LogCatalog } from "./chain.ts";
import { microsecondsOf } from "./instant.ts";
import { parseLsn, parseSegmentName } from "./segment.ts";

const LAST_SECOND_MS = 2_000;

/** What an archive has. */
export interface Catalog {
  backups: BackupInfo[];
  /** Null for an instance whose log was never shipped. */
  log: LogCatalog | null;
}

/** There is no way to what was asked for; the message is for the customer. */
export class PlanRefused extends PublicError {
  override name = "PlanRefused";

  readonly code: PlanRefusalCode;

  constructor(code: PlanRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** @throws PlanRefused. */
export function restorePlan(catalog: Catalog, target: RestoreTarget): RestorePlan {
  if ("backup" in target) return planOfBackup(backupOf(catalog, target.backup));
  if ("at" in target) return planOfInstant(catalog, target.at);
  const at = catalog.log?.watermark?.at;
  const newest = byCompletion(catalog.backups).at(-1);
  if (newest === undefined) throw new PlanRefused("unknown_backup", "There is no backup to restore.");
  const isCovered = at !== undefined && consistentFrom(newest) <= microsecondsOf(at);
  return isCovered ? planOfInstant(catalog, at) : planOfBackup(newest);
}

/** The earliest instant that can be restored: that of the oldest backup that all segments follow. */
export function earliestRestoreTime(catalog: Catalog): string | null {
  if (catalog.log?.watermark === null || catalog.log?.watermark === undefined) return null;
  const { log } = catalog;
  const oldest = byCompletion(catalog.backups).find(
    (backup) =>
      consistentFrom(backup) <= microsecondsOf(log.watermark?.at ?? backup.completedAt) &&
      chainFrom(log, backup)?.gap === null,
  );
  return oldest === undefined ? null : restorableFrom(oldest);
}

/** Backups by the moment of their data, the oldest first; an id is no order. */
export function byCompletion(backups: BackupInfo[]): BackupInfo[] {
  return backups.toSorted((a, b) => microsecondsOf(a.completedAt) - microsecondsOf(b.completedAt));
}

/** The first instant that can be reached from a backup. */
export function restorableFrom({ mysql, completedAt }: BackupInfo): string {
  return mysql?.endedAt ?? completedAt;
}

/** The same in microseconds. */
function consistentFrom(backup: BackupInfo): number {
  return microsecondsOf(restorableFrom(backup));
}

function backupOf({ backups }: Catalog, id: string): BackupInfo {
  const backup = backups.find((known) => known.id === id);
  if (backup === undefined) throw new PlanRefused("unknown_backup", "This backup does not exist any more.");
  return backup;
}

/** A backup alone: its stream has the log that was written while it was made. */
function planOfBackup(backup: BackupInfo): RestorePlan {
  return planned(backup, { kind: "immediate" }, [], 0);
}

function planOfInstant({ backups, log }: Catalog, at: string): RestorePlan {
  if (log === null) throw new PlanRefused("too_early", "Only backups can be restored here, not instants.");
  if (log.watermark === null) {
    throw new PlanRefused("damaged", "It is not known how far the log reaches in the archive.");
  }
  const instant = microsecondsOf(at);
  if (instant > microsecondsOf(log.watermark.at)) {
    throw new PlanRefused("too_late", `The archive reaches up to ${log.watermark.at}.`);
  }
  const base = byCompletion(backups).findLast(
    (backup) => consistentFrom(backup) <= instant && belongsTo(log, backup),
  );
  const chain = base === undefined ? null : chainFrom(log, base);
  if (base === undefined || chain === null) {
    throw new PlanRefused("too_early", "There is no backup from before that instant.");
  }
  if (chain.gap !== null) throw gapRefused(log, chain);
  const isLatest = log.format === "binlog" && at === log.watermark.at;
  const recovery = { kind: "time" as const, at: isLatest ? after(at) : at, mustReachLsn: log.watermark.lsn };
  return planned(base, recovery, chain.segments, log.segmentBytes);
}

/** The clock of a MariaDB's log has seconds only: an instant in the middle of its last one would leave that out. */
function after(at: string): string {
  return new Date(Date.parse(at) + LAST_SECOND_MS).toISOString();
}

/** Whether the log goes on after a backup: a MariaDB has backups without one, and logs that were begun anew. */
function belongsTo(log: LogCatalog, backup: BackupInfo): boolean {
  return log.format === "binlog" ? backup.mysql?.timeline === timelineOf(log) : !isOfFormerData(log, backup);
}

/** Whether a backup is of other data than the log, which no log goes on after. */
export function isOfFormerData({ objects }: LogCatalog, { completedAt }: BackupInfo): boolean {
  return Date.parse(completedAt) < (objects.begunAt ?? 0);
}

/** All segments from a backup's first to the watermark; null for a backup that no log belongs to. */
function chainFrom(log: LogCatalog, backup: BackupInfo) {
  const timeline = timelineOf(log);
  if (timeline === null) return null;
  if (log.format === "binlog") {
    const start = parseSegmentName(backup.mysql?.startSegment ?? "", log.segmentBytes);
    if (start === null || !belongsTo(log, backup)) return null;
    const end = Math.max(promisedEnd(log), parseLsn(backup.mysql?.startLsn ?? "0/0"));
    return chainOf(log, timeline, start, end);
  }
  if (backup.postgres === null || !belongsTo(log, backup)) return null;
  const end = Math.max(promisedEnd(log), parseLsn(backup.postgres.endLsn));
  return chainOf(log, timeline, startOf(backup, log.segmentBytes), end);
}

/** The first segment that a backup's own stream does not have to its end. */
function startOf({ postgres, isHot }: BackupInfo, segmentBytes: number) {
  const start = parseSegmentName(postgres?.startSegment ?? "", segmentBytes);
  if (start === null) throw new PlanRefused("damaged", "The backup does not say where its log begins.");
  const end = Math.floor((parseLsn(postgres?.endLsn ?? "0/0") - 1) / segmentBytes);
  return isHot ? { ...start, number: Math.max(start.number, end) } : start;
}

function planned(
  backup: BackupInfo,
  recovery: RestorePlan["recovery"],
  segments: RestorePlan["segments"],
  segmentBytes: number,
): RestorePlan {
  return { backup, recovery, segments, totalBytes: backup.plainBytes + segments.length * segmentBytes };
}

function gapRefused(
  { format, segmentBytes }: LogCatalog,
  { gap: { after: last, before }, missing }: { gap: Gap; missing: string },
): PlanRefused {
  const file = format === "binlog" ? placeOf(missing, segmentBytes)?.file : undefined;
  if (file !== undefined) {
    const name = binlogName(file);
    return new PlanRefused("gap", `The binary log ${name}, or a part of it, is missing from the archive.`);
  }
  return new PlanRefused("gap", `The log has a gap between the segments ${last} and ${before}.`);
}

/** The bytes of the log since the newest backup; those of the whole log when it does not go on after that. */
export function bytesSinceNewest(catalog: LogCatalog, backups: BackupInfo[]): number {
  const newest = byCompletion(backups).at(-1)?.mysql;
  if (newest === undefined || newest.timeline !== timelineOf(catalog)) return bytesSince(catalog, "");
  const offset = parseLsn(newest.startLsn) % FILE_SPACE;
  return Math.max(0, bytesSince(catalog, newest.startSegment) - offset);
}
