// The segments that follow one another in an archive, across the timelines that a log went through.
import type { LogState, Watermark } from "../../contracts/keeper.ts";
import { binlogChainOf, binlogGapsOf } from "./binlog-chain.ts";
import { piecesEnd, type LogObjects } from "./objects.ts";
import { historyName, parseLsn, parseSegmentName, segmentName, type Ancestor } from "./segment.ts";

/** What is known of a log in its archive. */
export interface LogCatalog {
  /** Left out for the log of a Postgres. */
  format?: "binlog";
  segmentBytes: number;
  objects: LogObjects;
  histories: ReadonlyMap<number, Ancestor[]>;
  /** Null for a log of which nothing was shipped as a whole yet, or whose watermark is damaged. */
  watermark: Watermark | null;
}

export type Gap = LogState["gaps"][number];

/** Segments that a restore needs, or where the first is missing. */
export type Chain =
  | { segments: { name: string; isPartial: boolean }[]; gap: null }
  | { segments: null; gap: Gap; missing: string };

/** The timeline of the watermark; null without a watermark. */
export function timelineOf({ watermark, segmentBytes }: LogCatalog): number | null {
  return watermark === null ? null : (parseSegmentName(watermark.segment, segmentBytes)?.timeline ?? null);
}

/**
 * All segments from one on up to a position, and the histories of the timelines on the way.
 * @param timeline that the restore ends on. @param from the timeline and the number of the first segment.
 */
export function chainOf(
  catalog: LogCatalog,
  timeline: number,
  from: { timeline: number; number: number },
  end: number,
): Chain {
  if (catalog.format === "binlog") return binlogChainOf(catalog, from, end);
  const { segmentBytes } = catalog;
  const lineage = lineageOf(catalog, timeline);
  const segments: { name: string; isPartial: boolean }[] = [];
  const nameOf = (number: number) =>
    segmentName({ timeline: timelineAt(lineage, number, segmentBytes), number }, segmentBytes);
  const missing = (number: number): Chain => ({
    segments: null,
    gap: { after: nameOf(Math.max(0, number - 1)), before: nameOf(number + 1) },
    missing: nameOf(number),
  });
  if (!isOnLineage(lineage, from, segmentBytes)) return missing(from.number);
  for (const known of lineage.filter((part) => part.timeline > from.timeline)) {
    segments.push({ name: historyName(known.timeline), isPartial: false });
  }
  for (let number = from.number; number * segmentBytes < end; number += 1) {
    const name = nameOf(number);
    const isWhole = catalog.objects.segments.has(name);
    const hasEnough = isWhole || number * segmentBytes + piecesEnd(catalog.objects.pieces, name) >= end;
    if (!hasEnough) return missing(number);
    segments.push({ name, isPartial: !isWhole });
  }
  return { segments, gap: null };
}

/** Where segments are missing on the way to the watermark. */
export function gapsOf(catalog: LogCatalog): Gap[] {
  if (catalog.format === "binlog") return binlogGapsOf(catalog);
  const timeline = timelineOf(catalog);
  if (timeline === null) return [];
  const { segmentBytes } = catalog;
  const lineage = lineageOf(catalog, timeline);
  const numbers = archivedOf(catalog)
    .filter((segment) => timelineAt(lineage, segment.number, segmentBytes) === segment.timeline)
    .map(({ number }) => number)
    .sort((a, b) => a - b);
  const nameOf = (number: number) =>
    segmentName({ timeline: timelineAt(lineage, number, segmentBytes), number }, segmentBytes);
  return numbers.slice(1).flatMap((number, index) => {
    const before = numbers[index] as number;
    return number <= before + 1 ? [] : [{ after: nameOf(before), before: nameOf(number) }];
  });
}

/** The oldest segment that is in the archive; null when there is none. */
export function firstSegmentOf(catalog: LogCatalog): string | null {
  return (
    archivedOf(catalog)
      .map((segment) => segmentName(segment, catalog.segmentBytes))
      .sort()[0] ?? null
  );
}

/** All whole segments, and the one of the watermark, which may be in pieces. */
function archivedOf({ objects, segmentBytes, watermark }: LogCatalog) {
  const names = new Set(objects.segments);
  if (watermark !== null && piecesEnd(objects.pieces, watermark.segment) > 0) names.add(watermark.segment);
  return [...names].map((name) => parseSegmentName(name, segmentBytes)).filter((segment) => segment !== null);
}

/** A timeline and its ancestors, the oldest first, each with the position it was left at. */
function lineageOf({ histories }: LogCatalog, timeline: number): Ancestor[] {
  return [...(histories.get(timeline) ?? []), { timeline, leftAt: Number.POSITIVE_INFINITY }];
}

/** The timeline whose file has a segment; the file of the newer timeline begins with the older one's part. */
function timelineAt(lineage: Ancestor[], number: number, segmentBytes: number): number {
  const part = lineage.find(({ leftAt }) => number < Math.floor(leftAt / segmentBytes));
  return (part ?? (lineage.at(-1) as Ancestor)).timeline;
}

function isOnLineage(
  lineage: Ancestor[],
  from: { timeline: number; number: number },
  segmentBytes: number,
): boolean {
  const own = lineage.find(({ timeline }) => timeline === from.timeline);
  return own !== undefined && from.number * segmentBytes < own.leftAt;
}

/** A position that the archive must reach, in the newest segment that the watermark promises. */
export function promisedEnd({ format, watermark, segmentBytes }: LogCatalog): number {
  if (watermark === null) return 0;
  // The end of the last byte.
  if (format === "binlog") return parseLsn(watermark.lsn);
  const number = parseSegmentName(watermark.segment, segmentBytes)?.number ?? 0;
  // The record of the watermark begins at its position, and may end in the next segment.
  return Math.max(parseLsn(watermark.lsn), number * segmentBytes) + 1;
}
