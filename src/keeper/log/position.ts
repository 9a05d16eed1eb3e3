// Where the shipping of a log stands, and how that is found again after the keeper was killed.
import { PublicError } from "../../lib/errors.ts";
import { DamagedObject, MissingObject } from "../object-store.ts";
import type { LogArchive } from "./log-archive.ts";
import { readRecords, unknownCursor, type Cursor } from "./records.ts";
import { writtenBytes } from "./page.ts";
import { hex, parseSegmentName, segmentName, type Segment } from "./segment.ts";
import { cursorAfter, firstWritten, isComplete, isWritten, readFrom, type Source } from "./source.ts";

export interface Position {
  segment: Segment;
  /** At the beginning of the segment. */
  start: Cursor;
  /** After the latest record that was proved. */
  proved: Cursor;
  /** Of the pieces of this segment. */
  generation: number;
  pieceCount: number;
  /** How much of the segment the pieces have. */
  shippedBytes: number;
  /** The CRC-32 of these bytes. */
  shippedSum: number;
  /** The archive has a former state of this segment or of later ones, which the source lost in a power cut. */
  revokes: boolean;
  /** For how many passes in a row the segment could not be read on. */
  brokenPasses: number;
}

/** The position at the beginning of a segment. */
export function positionAt(archive: LogArchive, source: Source, segment: Segment, start?: Cursor): Position {
  const name = segmentName(segment, source.segmentBytes);
  const known = archive.objects.pieces.filter((piece) => piece.segment === name);
  const cursor = start ?? unknownCursor(segment.number * source.segmentBytes);
  return {
    segment,
    start: cursor,
    proved: cursor,
    generation: Math.max(0, ...known.map(({ generation }) => generation)) + 1,
    pieceCount: 0,
    shippedBytes: 0,
    shippedSum: 0,
    revokes: false,
    brokenPasses: 0,
  };
}

/**
 * Where shipping goes on, from what the archive has. The newest whole segment is compared with its source, which may
 * have lost it in a power cut after it was shipped. Null when there is no log yet.
 * @throws PublicError when the source is older than that.
 */
export async function resume(archive: LogArchive, source: Source): Promise<Position | null> {
  const newest = newestArchived(archive, source.segmentBytes);
  if (newest === null) return await firstPosition(archive, source);
  if (!archive.objects.segments.has(segmentName(newest, source.segmentBytes))) {
    return positionAt(archive, source, newest);
  }
  const next = { ...newest, number: newest.number + 1 };
  if (!(await isWritten(source, newest))) {
    const written = await firstWritten(source, newest.timeline, next.number);
    if (written === null && !hasNewerTimeline(source, newest)) throw olderSource();
    const copy = await readCopy(archive, newest, source.segmentBytes);
    return positionAt(archive, source, next, copy === null ? undefined : cursorOfCopy(copy, newest, source));
  }
  const read = await readFrom(source, newest, unknownCursor(newest.number * source.segmentBytes));
  if (read === null || !(await isComplete(source, newest, read.records))) {
    return { ...positionAt(archive, source, newest), revokes: true };
  }
  const copy = await readCopy(archive, newest, source.segmentBytes);
  const isSame = copy !== null && Buffer.compare(copy.subarray(0, read.bytes.length), read.bytes) === 0;
  if (!isSame) return positionAt(archive, source, newest);
  return positionAt(archive, source, next, cursorAfter(newest, read.records, source.segmentBytes));
}

/** A log without an archive is shipped from its oldest segment on; earlier timelines are those of another instance. */
async function firstPosition(archive: LogArchive, source: Source): Promise<Position | null> {
  const timeline = source.segments.at(-1)?.timeline;
  const first = timeline === undefined ? null : await firstWritten(source, timeline, 0);
  return first === null ? null : positionAt(archive, source, first);
}

/** The newest segment of the archive: the newest whole one if there is any of its timeline. */
function newestArchived(archive: LogArchive, segmentBytes: number): Segment | null {
  const { segments, pieces } = archive.objects;
  // Names order as their segments do.
  const whole = [...segments].sort().at(-1);
  const partial = pieces
    .map(({ segment }) => segment)
    .sort()
    .at(-1);
  if (whole === undefined && partial === undefined) return null;
  const isOfNewerTimeline = whole === undefined || (partial ?? "").slice(0, 8) > whole.slice(0, 8);
  return parseSegmentName((isOfNewerTimeline ? partial : whole) as string, segmentBytes);
}

function hasNewerTimeline({ segments }: Source, { timeline }: Segment): boolean {
  return (segments.at(-1)?.timeline ?? 0) > timeline;
}

async function readCopy(
  archive: LogArchive,
  segment: Segment,
  segmentBytes: number,
): Promise<Uint8Array | null> {
  try {
    return await archive.read(segmentName(segment, segmentBytes), segmentBytes);
  } catch (error) {
    if (error instanceof DamagedObject || error instanceof MissingObject) return null;
    throw error;
  }
}

function cursorOfCopy(copy: Uint8Array, segment: Segment, { segmentBytes }: Source): Cursor | undefined {
  const base = segment.number * segmentBytes;
  const records = readRecords(unknownCursor(base), copy.subarray(0, writtenBytes(copy, base)), base);
  const isWhole = records.outcome === "switched" || records.end.position === base + segmentBytes;
  return isWhole && records.outcome !== "broken" ? cursorAfter(segment, records, segmentBytes) : undefined;
}

function olderSource(): PublicError {
  return new PublicError(
    "The log of the database ends before its archive does: its data is older than the archive.",
  );
}

/** A sentence about a segment that Postgres wrote, and that no recovery could read. */
export function damagedSource(segment: Segment, segmentBytes: number, position: number): string {
  const name = segmentName(segment, segmentBytes);
  return `Segment ${name} of the log is damaged at byte ${hex(position % segmentBytes)}, so its archive has a gap there.`;
}
