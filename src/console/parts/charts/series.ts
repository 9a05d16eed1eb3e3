// The series of an answer, and how a kind wants each of them to be shown.
import type { Unit } from "./units.ts";

/** A series as the API has it: several lines with labels, or a single line. */
export type Series =
  | { labels: string[]; data: { x: string; y: number[] }[] }
  | { data: { x: string; y: number }[] };

/** The series of a resource by their names. */
export type SeriesByName = Record<string, Series>;

/** How a series is shown. */
export interface Chart {
  title: string;
  unit: Unit;
  /** The names of the lines, in the order of the labels; a single line needs one where the title leaves a question. */
  lines?: readonly string[];
  /** Whether the values hold while the instance sleeps, as its disk use does. */
  holdsAsleep?: true;
}

/** A chart for each series. The series `awake` is shown in all of them. */
export type Charts<Data extends SeriesByName> = { [Name in Exclude<keyof Data, "awake">]: Chart };

/** A point of a series, with a value for each line. */
interface Point {
  /** Seconds since 1970. */
  at: number;
  values: readonly number[];
}

/** The points of a series, whatever its shape. */
export function pointsOf({ data }: Series): Point[] {
  return data.map(({ x, y }) => ({ at: Date.parse(x) / 1000, values: typeof y === "number" ? [y] : y }));
}
