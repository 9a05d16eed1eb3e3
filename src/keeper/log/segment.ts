// The names and numbers of the segments of a Postgres' log, and positions in the log as text.

const FOUR_GIB = 2 ** 32;
const SEGMENT_NAME = /^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})$/;
const HISTORY_NAME = /^([0-9A-F]{8})\.history$/;
const LSN = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/;

/** A segment: the number counts all segments from position 0 on, whatever their timeline. */
export interface Segment {
  timeline: number;
  number: number;
}

/** The segment of a file's name; null for every other name. */
export function parseSegmentName(name: string, segmentBytes: number): Segment | null {
  const match = SEGMENT_NAME.exec(name);
  if (match === null) return null;
  const [timeline = 0, high = 0, low = 0] = match.slice(1).map((digits) => Number.parseInt(digits, 16));
  const perFile = FOUR_GIB / segmentBytes;
  return low < perFile ? { timeline, number: high * perFile + low } : null;
}

/** The name of a segment's file. */
export function segmentName({ timeline, number }: Segment, segmentBytes: number): string {
  const perFile = FOUR_GIB / segmentBytes;
  return hex(timeline) + hex(Math.floor(number / perFile)) + hex(number % perFile);
}

/** The timeline whose history a file has; null for every other name. */
export function parseHistoryName(name: string): number | null {
  const match = HISTORY_NAME.exec(name);
  return match === null ? null : Number.parseInt(match[1] ?? "", 16);
}

/** The name of the file with a timeline's history. */
export function historyName(timeline: number): string {
  return `${hex(timeline)}.history`;
}

/** A position in the log as Postgres writes it, such as `0/3000148`. */
export function lsnText(position: number): string {
  const high = Math.floor(position / FOUR_GIB);
  return `${high.toString(16)}/${(position % FOUR_GIB).toString(16)}`.toUpperCase();
}

/** The position that a text names. @throws when it is none. */
export function parseLsn(text: string): number {
  const match = LSN.exec(text);
  if (match === null) throw new Error(`${JSON.stringify(text)} is no position in a log`);
  const [high = 0, low = 0] = match.slice(1).map((digits) => Number.parseInt(digits, 16));
  return high * FOUR_GIB + low;
}

/** A timeline that an other timeline descends from, and the position at which it was left. */
export interface Ancestor {
  timeline: number;
  leftAt: number;
}

/** A timeline descends from one more with each restore of a restored cluster. */
const MAX_ANCESTORS = 500;

/** The ancestors in a timeline's history file, the oldest first. @throws when a line is malformed, or for too many. */
export function parseHistory(text: string): Ancestor[] {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length > MAX_ANCESTORS) throw new Error("the history of a timeline is too long");
  return lines.map((line) => {
    const [timeline = "", leftAt = ""] = line.split(/\s+/);
    if (!/^\d{1,10}$/.test(timeline)) throw new Error("a line of a timeline's history is malformed");
    return { timeline: Number(timeline), leftAt: parseLsn(leftAt) };
  });
}

/** Hexadecimal digits. */
export function hex(value: number, digits = 8): string {
  return value.toString(16).toUpperCase().padStart(digits, "0");
}
