// Time series as rows of a table that fits into 80 columns.

/** The points of one series: several lines with labels, or a single line. */
type Series =
  | { labels: string[]; data: { x: string; y: number[] }[] }
  | { data: { x: string; y: number }[]; total: number };

/** The metrics of a resource. */
export interface MetricsDocument {
  data: Record<string, Series>;
}

interface Line {
  name: string;
  points: { at: number; value: number }[];
}

const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const WIDTH = 24;

const NUMBER = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** A row for each line that has points: its name, its last value, the mean, and its course over the period. */
export function rowsOf({ data }: MetricsDocument): string[][] {
  const lines = Object.entries(data).flatMap(linesOf);
  const times = lines.flatMap(({ points }) => points.map(({ at }) => at));
  const [first, last] = [times.reduce((one, at) => Math.min(one, at), Infinity), Math.max(0, ...times)];
  return lines
    .filter(({ points }) => points.length > 0)
    .map(({ name, points }) => [
      name,
      NUMBER.format(points.at(-1)?.value ?? 0),
      NUMBER.format(meanOf(points.map(({ value }) => value))),
      barsOf(points, first, last),
    ]);
}

function linesOf([name, series]: [string, Series]): Line[] {
  if (!("labels" in series))
    return [{ name, points: series.data.map(({ x, y }) => ({ at: Date.parse(x), value: y })) }];
  return series.labels.map((label, index) => ({
    name: series.labels.length === 1 ? name : `${name} ${label}`,
    points: series.data.map(({ x, y }) => ({ at: Date.parse(x), value: y[index] ?? 0 })),
  }));
}

/** A bar for the mean of each part of the time, relative to the highest; a blank where nothing was measured. */
function barsOf(points: Line["points"], first: number, last: number): string {
  const parts = Array.from({ length: WIDTH }, (): number[] => []);
  for (const { at, value } of points) {
    const part = last === first ? 0 : Math.floor(((at - first) / (last - first)) * (WIDTH - 1));
    parts[part]?.push(value);
  }
  const means = parts.map((values) => (values.length === 0 ? null : meanOf(values)));
  const highest = means.reduce<number>((most, mean) => Math.max(most, mean ?? 0), 0);
  return means.map((mean) => (mean === null ? " " : barOf(mean, highest))).join("");
}

function barOf(value: number, highest: number): string {
  const height = highest === 0 ? 0 : Math.round((value / highest) * (BARS.length - 1));
  return BARS[height] ?? "";
}

function meanOf(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
