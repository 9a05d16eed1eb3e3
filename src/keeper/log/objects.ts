// The names of the objects that a log has in its archive.
//
//   log/SEGMENT                               a whole segment
//   log/SEGMENT.partial.GENERATION.FROM.TO    a piece of a segment that is not whole yet; the pieces of the highest
//                                             generation follow one another, each proved record by record
//   log/SEGMENT.partial.GENERATION.FROM.TO.COUNT.AT.LSN    the same, and with it the log is in the archive up to there
//   log/TIMELINE.history                      a timeline's history
//   log/begun.AT                              the log is that of other data than before this moment
//   log/watermark.json                        how far the log is in the archive, unless a piece says it later
import { hex, parseHistoryName } from "./segment.ts";

const PIECE =
  /^([0-9A-F]{24})\.partial\.([0-9A-F]{8})\.([0-9A-F]{8})\.([0-9A-F]{8})(?:\.([0-9A-F]{12})\.([0-9A-F]{12})\.([0-9A-F]{16}))?$/;
const SEGMENT = /^[0-9A-F]{24}$/;

const BEGUN = /^begun\.([0-9A-F]{12})$/;

export const WATERMARK_NAME = "watermark.json";

/** Some bytes of a segment that is not whole yet. */
export interface Piece {
  segment: string;
  /** Pieces of a lower generation are out of date. */
  generation: number;
  from: number;
  to: number;
  /** Null for a piece that says nothing about the log as a whole. */
  mark: Mark | null;
}

/** A watermark that a piece has in its name, so that a pass over the log has a single object to store. */
export interface Mark {
  /** The highest count of all watermarks of a log is the latest, whatever the clock says. */
  count: number;
  /** In milliseconds since 1970. */
  at: number;
  /** Where the latest whole record begins. */
  lsn: number;
}

/** The objects of a log by what they are. */
export interface LogObjects {
  segments: Set<string>;
  pieces: Piece[];
  histories: Set<number>;
  /** Since when the data is that of the log, in milliseconds since 1970; left out when it always was. */
  begunAt?: number;
}

/** The name of the object which says that a log is that of other data than before. @param at milliseconds since 1970. */
export function begunName(at: number): string {
  return `begun.${hex(at, 12)}`;
}

export function pieceName({ segment, generation, from, to, mark }: Piece): string {
  const name = `${segment}.partial.${hex(generation)}.${hex(from)}.${hex(to)}`;
  if (mark === null) return name;
  return `${name}.${hex(mark.count, 12)}.${hex(mark.at, 12)}.${hex(mark.lsn, 16)}`;
}

/** Sorts the names of objects, each without the archive's prefix. Other names are left alone. */
export function logObjectsOf(names: string[]): LogObjects {
  const objects: LogObjects = { segments: new Set(), pieces: [], histories: new Set() };
  for (const name of names) {
    const piece = parsePiece(name);
    const timeline = parseHistoryName(name);
    const begun = BEGUN.exec(name)?.[1];
    if (begun !== undefined) objects.begunAt = Math.max(objects.begunAt ?? 0, Number.parseInt(begun, 16));
    if (SEGMENT.test(name)) objects.segments.add(name);
    else if (piece !== null) objects.pieces.push(piece);
    else if (timeline !== null) objects.histories.add(timeline);
  }
  return objects;
}

function parsePiece(name: string): Piece | null {
  const match = PIECE.exec(name);
  if (match === null) return null;
  const [segment = "", ...digits] = match.slice(1);
  const numbers = digits.map((each) => Number.parseInt(each, 16));
  const [generation = 0, from = 0, to = 0, count = 0, at = 0, lsn = 0] = numbers;
  return { segment, generation, from, to, mark: digits[3] === undefined ? null : { count, at, lsn } };
}

/** The piece with the latest watermark; null when no piece has one. */
export function latestMarked(pieces: Piece[]): (Piece & { mark: Mark }) | null {
  return pieces
    .filter((piece): piece is Piece & { mark: Mark } => piece.mark !== null)
    .reduce<(Piece & { mark: Mark }) | null>(
      (latest, piece) => (latest !== null && latest.mark.count > piece.mark.count ? latest : piece),
      null,
    );
}

/**
 * The pieces that together have the most of a segment, the first bytes first; empty when its beginning is missing.
 * Pieces of one generation that overlap have the same bytes there.
 */
export function currentPieces(pieces: Piece[], segment: string): Piece[] {
  const own = pieces.filter((piece) => piece.segment === segment);
  const begun = own.filter(({ from }) => from === 0).map(({ generation }) => generation);
  const latest = own.filter(({ generation }) => generation === Math.max(...begun));
  const chain: Piece[] = [];
  for (let end = 0; ;) {
    const at = end;
    const next = latest
      .filter(({ from, to }) => from <= at && to > at)
      .reduce<Piece | null>((best, piece) => (best !== null && best.to >= piece.to ? best : piece), null);
    if (next === null) return chain;
    chain.push(next);
    end = next.to;
  }
}

/** The number of bytes of a segment that the pieces have. */
export function piecesEnd(pieces: Piece[], segment: string): number {
  return currentPieces(pieces, segment).at(-1)?.to ?? 0;
}
