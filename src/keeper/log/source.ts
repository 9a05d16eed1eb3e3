// What a Postgres' log folder has for one segment: its pages that are written, and the records in them.
import { crc32 } from "node:zlib";
import { PublicError } from "../../lib/errors.ts";
import type { LogFolder } from "./log-folder.ts";
import { PAGE_BYTES, pageStart, writtenBytes } from "./page.ts";
import { readRecords, type Cursor, type ReadRecords } from "./records.ts";
import { parseSegmentName, segmentName, type Segment } from "./segment.ts";

/** Most passes find little that is new, so a read begins small. */
const FIRST_READ_BYTES = 65_536;

/** All of them are kept in memory. */
const MAX_HISTORIES = 500;

/** After so many reads of segments other work gets its turn. */
const READS_AT_ONCE = 64;

/** A log folder with the size of its segments, and the segments that its file names speak of. */
export interface Source {
  folder: LogFolder;
  segmentBytes: number;
  /** Also files that are made ahead, or that wait to be used again. The order is that of the log. */
  segments: Segment[];
  histories: string[];
}

export interface SourceRead {
  /** What is written from the page of the cursor on. */
  bytes: Uint8Array;
  /** The position of the first byte. */
  base: number;
  records: ReadRecords;
}

/** Lists the folder. @throws PublicError for more names than an engine's own. */
export function sourceOf(folder: LogFolder, segmentBytes: number): Source {
  const names = folder.names();
  const segments = names
    .map((name) => parseSegmentName(name, segmentBytes))
    .filter((segment) => segment !== null)
    .sort((a, b) => a.timeline - b.timeline || a.number - b.number);
  const histories = names.filter((name) => name.endsWith(".history"));
  if (histories.length > MAX_HISTORIES)
    throw new PublicError(`The log has more than ${MAX_HISTORIES} timelines, so it is not shipped.`);
  return { folder, segmentBytes, segments, histories };
}

/** Reads a segment from a cursor on; null when nothing of it is written. */
export async function readFrom(source: Source, segment: Segment, from: Cursor): Promise<SourceRead | null> {
  const { folder, segmentBytes } = source;
  const name = segmentName(segment, segmentBytes);
  const start = segment.number * segmentBytes;
  const base = pageStart(from.position);
  const chunks: Uint8Array[] = [];
  for (let at = base - start, length = FIRST_READ_BYTES; at < segmentBytes; length *= 4) {
    const to = Math.min(segmentBytes, at + length);
    const bytes = await folder.segment(name, segmentBytes, at, to);
    if (bytes === null) return null;
    const written = writtenBytes(bytes, start + at);
    chunks.push(bytes.subarray(0, written));
    if (written < bytes.length) break;
    at = to;
  }
  const bytes = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
  return { bytes, base, records: readRecords(from, bytes, base) };
}

/**
 * The written pages of a segment, of which a read has the end, and pieces in the archive have the beginning; null when
 * the beginning is not the same any more. So no record is proved twice.
 */
export async function joined(
  { folder, segmentBytes }: Source,
  segment: Segment,
  { bytes, base }: SourceRead,
  shipped: { bytes: number; sum: number },
): Promise<Uint8Array | null> {
  const length = base - segment.number * segmentBytes;
  const front = await folder.segment(segmentName(segment, segmentBytes), segmentBytes, 0, length);
  if (front === null) return null;
  const whole = new Uint8Array(segmentBytes);
  whole.set(front);
  whole.set(bytes, length);
  return crc32(whole.subarray(0, shipped.bytes)) === shipped.sum ? whole : null;
}

/** Whether Postgres has written the first page of a segment. A file that is used again has another one's pages. */
export async function isWritten({ folder, segmentBytes }: Source, segment: Segment): Promise<boolean> {
  const page = await folder.segment(segmentName(segment, segmentBytes), segmentBytes, 0, PAGE_BYTES);
  return page !== null && writtenBytes(page, segment.number * segmentBytes) > 0;
}

/** The first written segment of a timeline from a number on; null when there is none. */
export async function firstWritten(source: Source, timeline: number, from: number): Promise<Segment | null> {
  const later = source.segments.filter((each) => each.timeline === timeline && each.number >= from);
  return await firstWrittenOf(source, later);
}

async function firstWrittenOf(source: Source, segments: Segment[]): Promise<Segment | null> {
  for (const [index, segment] of segments.entries()) {
    if (await isWritten(source, segment)) return segment;
    if (index % READS_AT_ONCE === READS_AT_ONCE - 1) await new Promise(setImmediate);
  }
  return null;
}

/** The newest written segment of a timeline; null when there is none. */
export async function lastWritten(source: Source, timeline: number): Promise<Segment | null> {
  const ofTimeline = source.segments.filter((segment) => segment.timeline === timeline);
  return await firstWrittenOf(source, ofTimeline.toReversed());
}

/** Whether nothing will be written to a segment any more, after it was read. */
export async function isComplete(source: Source, segment: Segment, records: ReadRecords): Promise<boolean> {
  if (records.outcome === "switched") return true;
  const next = segment.number + 1;
  if (records.outcome !== "end" || records.end.position < next * source.segmentBytes) return false;
  // A last record that goes on may be unfinished here as well, unless a later segment has begun.
  return records.end.open === null || (await firstWritten(source, segment.timeline, next)) !== null;
}

/** The cursor at the beginning of the next segment. */
export function cursorAfter(segment: Segment, { end }: ReadRecords, segmentBytes: number): Cursor {
  return { ...end, position: (segment.number + 1) * segmentBytes };
}
