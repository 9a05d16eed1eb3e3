// The timelines that a log went through: each restore of a Postgres begins another one, and its archive goes on with it.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readForeign } from "../../../lib/foreign-file.ts";
import { RestoreFault } from "../../backup.ts";
import { readControlFile } from "../control-file.ts";
import { parseLsn, segmentNumber } from "./lsn.ts";

const HISTORY_NAME = /^([0-9A-F]{8})\.history$/;
/** A line takes some 60 bytes and stands for a restore. */
export const MAX_HISTORY_BYTES = 1024 ** 2;
const HISTORY_LINE = /^(\d+)\t([0-9A-F]{1,8}\/[0-9A-F]{1,8})\t/;

/** The timeline that a log ends on, and where it left its ancestors, the oldest first. */
export interface Lineage {
  timeline: number;
  ancestors: { timeline: number; leftAt: bigint }[];
}

/**
 * The newest timeline whose history is in the folder, or that of the backup.
 * @throws RestoreFault when that timeline does not descend from the backup's.
 */
export function lineageIn(folder: string, ofBackup: number): Lineage {
  const newest = newestHistoryIn(folder);
  if (newest === null || newest.timeline <= ofBackup) return { timeline: ofBackup, ancestors: [] };
  const ancestors = readForeign(join(folder, newest.name), MAX_HISTORY_BYTES)
    .split("\n")
    .flatMap((line) => {
      const [, timeline, leftAt] = HISTORY_LINE.exec(line) ?? [];
      return leftAt === undefined ? [] : [{ timeline: Number(timeline), leftAt: parseLsn(leftAt) }];
    });
  if (ancestors.some(({ timeline }) => timeline === ofBackup))
    return { timeline: newest.timeline, ancestors };
  throw new RestoreFault("The log of the database is that of another restore than its backup.");
}

/**
 * The timeline that the data is to follow: the log may have gone on with a later one than that of the data, which then
 * has its history. Null for data without a control file.
 */
export function followedTimeline(dataDir: string): number | null {
  const control = readControlFile(dataDir);
  if (control === null) return null;
  return Math.max(control.timeline, newestHistoryIn(join(dataDir, "pg_wal"))?.timeline ?? 0);
}

/** The history of the newest timeline that has one in the folder; null without any. */
function newestHistoryIn(folder: string): { name: string; timeline: number } | null {
  const known = readdirSync(folder).flatMap((name) => {
    const [, digits] = HISTORY_NAME.exec(name) ?? [];
    return digits === undefined ? [] : [{ name, timeline: Number.parseInt(digits, 16) }];
  });
  return known.sort((a, b) => a.timeline - b.timeline).at(-1) ?? null;
}

/** The timeline whose file has a segment; the file of a newer timeline begins with the older timeline's part. */
export function timelineAt({ timeline, ancestors }: Lineage, number: bigint, segmentBytes: number): number {
  return ancestors.find(({ leftAt }) => number < segmentNumber(leftAt, segmentBytes))?.timeline ?? timeline;
}
