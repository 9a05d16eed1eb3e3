// Decides what an archive may delete: backups that nothing needs, and the log before the oldest that is kept.
import type { BackupInfo, Retention } from "../../contracts/keeper.ts";
import { microsecondsOf } from "./instant.ts";
import { byCompletion, isOfFormerData, type Catalog } from "./plan.ts";
import { parseSegmentName } from "./segment.ts";

export interface Deletable {
  backups: string[];
  segments: string[];
}

/**
 * Kept are the named backups, and from `keepFrom` on every instant: the newest backup up to then, all later backups, and
 * all segments from the oldest of these on. Without `keepFrom` all segments from the newest backup on are kept, although a
 * backup alone needs none: its stream has its log.
 */
export function deletableOf(catalog: Catalog, { keepFrom, keepBackups }: Retention): Deletable {
  const ordered = byCompletion(catalog.backups);
  const window = keepFrom === null ? [] : ordered.slice(windowStart(ordered, keepFrom));
  const kept = new Set([...keepBackups, ...window.map(({ id }) => id)]);
  const backups = ordered.map(({ id }) => id).filter((id) => !kept.has(id));
  const { log } = catalog;
  const leading = (window.length === 0 ? ordered.slice(-1) : window).find(
    (backup) => log !== null && !isOfFormerData(log, backup),
  );
  return { backups, segments: deletableSegments(catalog, leading) };
}

/** The newest backup whose data is not later than an instant; all backups when there is none. */
function windowStart(ordered: BackupInfo[], keepFrom: string): number {
  const index = ordered.findLastIndex(
    ({ completedAt }) => microsecondsOf(completedAt) <= microsecondsOf(keepFrom),
  );
  return Math.max(0, index);
}

/**
 * @param oldest the backup from which on all segments are kept. Without any backup all are kept: the first backup may
 * be on its way.
 */
function deletableSegments({ log }: Catalog, oldest: BackupInfo | undefined): string[] {
  if (log === null || oldest === undefined) return [];
  const { segmentBytes, objects } = log;
  const names = new Set([...objects.segments, ...objects.pieces.map(({ segment }) => segment)]);
  const start = oldest.mysql?.startSegment;
  // A later log begins with its first file again, under the name of a later time.
  if (start !== undefined) return [...names].filter((name) => name < start).sort();
  if (oldest.postgres === null) return [];
  const numberOf = (name: string) => parseSegmentName(name, segmentBytes)?.number ?? Number.POSITIVE_INFINITY;
  const first = numberOf(oldest.postgres.startSegment);
  return [...names].filter((name) => numberOf(name) < first).sort();
}
