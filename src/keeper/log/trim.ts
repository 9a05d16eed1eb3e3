// Leaves segments out of a plan that lie after its instant, so that a restore of a distant past need not read all since.
import type { RestorePlan } from "../../contracts/keeper.ts";
import { microsecondsOf } from "./instant.ts";
import { writtenBytes } from "./page.ts";
import { readRecords, unknownCursor, type ReadRecords } from "./records.ts";
import { lsnText, parseLsn, parseSegmentName } from "./segment.ts";
import { markedWhole } from "./whole-log.ts";

/** What the records of a whole segment have shown. */
export interface SegmentEnd {
  /** The latest time of a commit or an abort in microseconds since 1970; null without any. */
  lastTransactionEnd: number | null;
  /** Where the latest whole record begins; null without any. */
  lastRecord: number | null;
}

/**
 * Cuts a plan after a segment with a transaction that ended later than the instant: Postgres stops there. A few segments
 * are read to find it; when there is none, the plan stays as it is.
 * @param ends the ends of whole segments that were read before, by name; the plan adds the segments that it reads.
 * @throws what `read` throws.
 */
export async function trimmedPlan(
  plan: RestorePlan,
  segmentBytes: number,
  read: (name: string) => Promise<Uint8Array>,
  ends = new Map<string, SegmentEnd>(),
): Promise<RestorePlan> {
  if (plan.recovery.kind !== "time") return plan;
  const instant = microsecondsOf(plan.recovery.at);
  const consistentAt = parseLsn(plan.backup.postgres?.endLsn ?? "0/0");
  const lastRecords = new Map<number, number | null>();
  const endOf = async (name: string, isPartial: boolean, position: number): Promise<SegmentEnd> => {
    const known = ends.get(name);
    if (known !== undefined && !isPartial) return known;
    const { lastTransactionEnd, proved } = recordsOf(await read(name), position);
    const end = { lastTransactionEnd, lastRecord: proved.lastRecord };
    if (!isPartial) ends.set(name, end);
    return end;
  };
  const goesBeyond = async (index: number) => {
    const { name = "", isPartial = true } = plan.segments[index] ?? {};
    const number = parseSegmentName(name, segmentBytes)?.number;
    if (number === undefined || (number + 1) * segmentBytes <= consistentAt) return false;
    const { lastTransactionEnd, lastRecord } = await endOf(name, isPartial, number * segmentBytes);
    lastRecords.set(index, lastRecord);
    return lastTransactionEnd !== null && lastTransactionEnd > instant;
  };
  const last = await firstIndex(plan.segments.length, goesBeyond);
  const lastRecord = lastRecords.get(last);
  if (last === plan.segments.length - 1) return await markedWhole(plan, segmentBytes, read);
  if (lastRecord === undefined || lastRecord === null) return plan;
  const segments = plan.segments.slice(0, last + 1);
  const totalBytes = plan.backup.plainBytes + segments.length * segmentBytes;
  // A replay that does not stop at the instant has to reach the last record of the segments that are left.
  return { ...plan, recovery: { ...plan.recovery, mustReachLsn: lsnText(lastRecord) }, segments, totalBytes };
}

/** The first index with a property that all later ones should have too; the last index when there is none. */
async function firstIndex(length: number, has: (index: number) => Promise<boolean>): Promise<number> {
  let [low, high] = [0, Math.max(0, length - 1)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await has(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function recordsOf(segment: Uint8Array, position: number): ReadRecords {
  const pages = segment.subarray(0, writtenBytes(segment, position));
  return readRecords(unknownCursor(position), pages, position);
}
