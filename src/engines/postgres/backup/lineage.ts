// The timelines that a log went through: each restore of a Postgres begins another one, and its archive goes on with it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RestoreFault } from "../../backup.ts";
import { parseLsn, segmentNumber } from "./lsn.ts";

const HISTORY_NAME = /^([0-9A-F]{8})\.history$/;
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
  const known = readdirSync(folder).flatMap((name) => {
    const [, digits] = HISTORY_NAME.exec(name) ?? [];
    return digits === undefined ? [] : [{ name, timeline: Number.parseInt(digits, 16) }];
  });
  const newest = known.sort((a, b) => a.timeline - b.timeline).at(-1);
  if (newest === undefined || newest.timeline <= ofBackup) return { timeline: ofBackup, ancestors: [] };
  const ancestors = readFileSync(join(folder, newest.name), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, timeline, leftAt] = HISTORY_LINE.exec(line) ?? [];
      return leftAt === undefined ? [] : [{ timeline: Number(timeline), leftAt: parseLsn(leftAt) }];
    });
  if (ancestors.some(({ timeline }) => timeline === ofBackup))
    return { timeline: newest.timeline, ancestors };
  throw new RestoreFault("The log of the database is that of another restore than its backup.");
}

/** The timeline whose file has a segment; the file of a newer timeline begins with the older timeline's part. */
export function timelineAt({ timeline, ancestors }: Lineage, number: bigint, segmentBytes: number): number {
  return ancestors.find(({ leftAt }) => number < segmentNumber(leftAt, segmentBytes))?.timeline ?? timeline;
}
