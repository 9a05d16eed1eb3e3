// The segments of a MariaDB's log that follow one another in an archive. A file has as many segments as it needs, and a
// piece of its own says where it ends, so that a missing end is noticed.
import type { Chain, Gap, LogCatalog } from "./chain.ts";
import { piecesEnd, type LogObjects, type Piece } from "./objects.ts";
import { parseSegmentName, segmentName } from "./segment.ts";

/** The segments of a file have numbers as if the file had so many bytes. */
export const FILE_SPACE = 2 ** 32;

/** The generation of a piece that ends its file; it has the whole segment, which may be empty. */
export const LAST_GENERATION = 0xff_ff_ff_ff;

/** A segment, by its file and its place in that. */
export interface Place {
  timeline: number;
  file: number;
  index: number;
}

/** The place of a segment's name; null for every other name. */
export function placeOf(name: string, segmentBytes: number): Place | null {
  const segment = parseSegmentName(name, segmentBytes);
  if (segment === null) return null;
  const perFile = FILE_SPACE / segmentBytes;
  const { timeline, number } = segment;
  return { timeline, file: Math.floor(number / perFile), index: number % perFile };
}

export function nameAt({ timeline, file, index }: Place, segmentBytes: number): string {
  return segmentName({ timeline, number: file * (FILE_SPACE / segmentBytes) + index }, segmentBytes);
}

/** The name of a file as the engine writes it. */
export function binlogName(file: number): string {
  return `binlog.${String(file).padStart(6, "0")}`;
}

/** The position of a byte in a file. */
export function positionIn(file: number, byte: number): number {
  return file * FILE_SPACE + byte;
}

/** The pieces by their segments, for a look at many of these. */
function piecesBySegment({ pieces }: LogObjects): Map<string, Piece[]> {
  return Map.groupBy(pieces, ({ segment }) => segment);
}

/** Whether a piece of a segment ends its file; false when the file goes on, or its end is not there. */
function endsFile(pieces: Piece[] = []): boolean {
  return pieces.some(({ generation }) => generation === LAST_GENERATION);
}

/** See `chainOf`: all files from that of a segment on, from their beginning. */
export function binlogChainOf(
  catalog: LogCatalog,
  from: { timeline: number; number: number },
  end: number,
): Chain {
  const { objects, segmentBytes } = catalog;
  const segments: { name: string; isPartial: boolean }[] = [];
  const perFile = FILE_SPACE / segmentBytes;
  const pieces = piecesBySegment(objects);
  const { timeline } = from;
  let place = { timeline, file: Math.floor(from.number / perFile), index: 0 };
  for (;;) {
    const name = nameAt(place, segmentBytes);
    const start = positionIn(place.file, place.index * segmentBytes);
    const isWhole = objects.segments.has(name);
    const bytes = isWhole ? segmentBytes : piecesEnd(pieces.get(name) ?? [], name);
    const isLast = !isWhole && endsFile(pieces.get(name));
    if (bytes > 0) segments.push({ name, isPartial: !isWhole });
    if (start + bytes >= end) return { segments, gap: null };
    if (!isWhole && !isLast) return gapAt(catalog, place, segments.at(-1)?.name ?? name);
    place = isLast ? { timeline, file: place.file + 1, index: 0 } : { ...place, index: place.index + 1 };
    if (place.file > Math.floor(end / FILE_SPACE)) return gapAt(catalog, place, name);
  }
}

function gapAt(catalog: LogCatalog, place: Place, after: string): Chain {
  const missing = nameAt(place, catalog.segmentBytes);
  const before = archivedIn(catalog, place.timeline).find((name) => name > missing) ?? missing;
  return { segments: null, gap: { after, before }, missing };
}

/** See `gapsOf`. */
export function binlogGapsOf(catalog: LogCatalog): Gap[] {
  const { objects, segmentBytes, watermark } = catalog;
  const current = placeOf(watermark?.segment ?? "", segmentBytes);
  if (current === null) return [];
  const names = archivedIn(catalog, current.timeline);
  const pieces = piecesBySegment(objects);
  return names.slice(1).flatMap((before, index) => {
    const after = names[index] ?? "";
    const [one, next] = [placeOf(after, segmentBytes), placeOf(before, segmentBytes)];
    if (one === null || next === null) return [];
    const isLast = endsFile(pieces.get(after));
    const follows = isLast
      ? next.file === one.file + 1 && next.index === 0
      : next.file === one.file && next.index === one.index + 1;
    return follows ? [] : [{ after, before }];
  });
}

/** The names of all segments of a timeline of which something is there, in their order. */
function archivedIn({ objects, segmentBytes }: LogCatalog, timeline: number): string[] {
  const names = new Set([...objects.segments, ...objects.pieces.map(({ segment }) => segment)]);
  return [...names].filter((name) => placeOf(name, segmentBytes)?.timeline === timeline).sort();
}

/** The bytes of the log from a position on that the archive has. */
export function bytesSince({ objects, segmentBytes }: LogCatalog, startSegment: string): number {
  const pieces = piecesBySegment(objects);
  const bytesOf = (name: string) =>
    objects.segments.has(name) ? segmentBytes : piecesEnd(pieces.get(name) ?? [], name);
  return [...new Set([...objects.segments, ...pieces.keys()])]
    .filter((name) => name >= startSegment)
    .reduce((sum, name) => sum + bytesOf(name), 0);
}
