// Finds out whether a restore wants the whole log, so that Postgres need not look for an end that never comes: it would
// replay all of the log, fail, and have to replay it once more.
import type { RestorePlan } from "../../contracts/keeper.ts";
import { microsecondsOf } from "./instant.ts";
import { writtenBytes } from "./page.ts";
import { readRecords, unknownCursor } from "./records.ts";
import { parseSegmentName } from "./segment.ts";

type Read = (name: string) => Promise<Uint8Array>;

/** A log that ends with more segments without the end of a transaction stays unmarked. */
const MAX_SEGMENTS = 8;

/** Marks a plan whose last transactions all ended by its instant. @throws what `read` throws. */
export async function markedWhole(plan: RestorePlan, segmentBytes: number, read: Read): Promise<RestorePlan> {
  const { recovery, segments } = plan;
  if (recovery.kind !== "time") return plan;
  const names = segments.map(({ name }) => name).slice(-MAX_SEGMENTS);
  const kept = new Map<string, Promise<Uint8Array>>();
  const readOnce = async (name: string) => {
    const reading = kept.get(name) ?? read(name);
    kept.set(name, reading);
    return await reading;
  };
  for (let count = 1; count < names.length; count += 1) {
    if ((await lastEndIn(names.slice(-count), segmentBytes, readOnce)) === null) continue;
    // Transactions that ended at about the same time may be in another order in the log, so the segment before counts.
    const end = await lastEndIn(names.slice(-count - 1), segmentBytes, readOnce);
    const isWhole = end !== null && end <= microsecondsOf(recovery.at);
    return isWhole ? { ...plan, recovery: { ...recovery, isWholeLog: true } } : plan;
  }
  return plan;
}

/**
 * When the last transaction in segments that follow one another ended, in microseconds since 1970; null without any, and
 * where they cannot be read to their end.
 */
async function lastEndIn(names: string[], segmentBytes: number, read: Read): Promise<number | null> {
  const first = parseSegmentName(names[0] ?? "", segmentBytes);
  if (first === null) return null;
  const base = first.number * segmentBytes;
  const written: Uint8Array[] = [];
  for (const [index, name] of names.entries()) {
    const bytes = await read(name);
    const length = writtenBytes(bytes, base + index * segmentBytes);
    if (length < bytes.length && index < names.length - 1) return null;
    written.push(bytes.subarray(0, length));
  }
  const { outcome, lastTransactionEnd } = readRecords(unknownCursor(base), Buffer.concat(written), base);
  return outcome === "end" ? lastTransactionEnd : null;
}
