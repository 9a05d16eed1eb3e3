// Brings all series of a resource onto one row of times, with gaps where nothing was measured or the instance slept.
import { type Chart, type Charts, pointsOf, type Series, type SeriesByName } from "./series.ts";

/** A distance of more than this many steps is a gap. */
const GAP_STEPS = 1.5;

/** The times of a period, which all charts of a page share. */
export interface Timeline {
  /** The ends of the period, in seconds since 1970. */
  from: number;
  until: number;
  /** In seconds since 1970, the oldest first. A gap has a time in it as well, so that no line crosses it. */
  times: readonly number[];
  /** The shortest distance of two times. */
  step: number;
  /** Whether the instance had no process throughout the step at a time. */
  isAsleep: readonly boolean[];
  /** Whether anything was measured at a time. */
  isMeasured: readonly boolean[];
}

/** @param seconds the length of the period. @param nowMs its end, in milliseconds since 1970. */
export function timelineOf(data: SeriesByName, seconds: number, nowMs: number): Timeline {
  const measured = [...new Set(Object.values(data).flatMap((each) => pointsOf(each).map(({ at }) => at)))];
  measured.sort((one, other) => one - other);
  const step = stepOf(measured, seconds);
  const times = withGaps(measured, step);
  const asleep = new Set(
    pointsOf(data["awake"] ?? { data: [] })
      .filter(({ values: [share] }) => share === 0)
      .map(({ at }) => at),
  );
  const known = new Set(measured);
  return {
    from: nowMs / 1000 - seconds,
    until: nowMs / 1000,
    times,
    step,
    isAsleep: times.map((at) => asleep.has(at)),
    isMeasured: times.map((at) => known.has(at)),
  };
}

function stepOf(times: readonly number[], seconds: number): number {
  const distances = times.slice(1).map((at, index) => at - (times[index] ?? at));
  return distances.reduce((least, distance) => Math.min(least, distance), seconds);
}

function withGaps(times: readonly number[], step: number): number[] {
  return times.flatMap((at, index) => {
    const next = times[index + 1];
    return next !== undefined && next - at > GAP_STEPS * step ? [at, at + step] : [at];
  });
}

/** A line of a chart: a value for each time of the timeline, null in a gap. */
export interface Line {
  name: string;
  values: readonly (number | null)[];
}

/** The lines of a series; a series that the resource does not have has no lines. */
export function linesOf(series: Series, chart: Chart, { times, isAsleep }: Timeline): Line[] {
  const points = new Map(pointsOf(series).map(({ at, values }) => [at, values]));
  if (points.size === 0) return [];
  const count = "labels" in series ? series.labels.length : 1;
  return Array.from({ length: count }, (_, index) => ({
    name: chart.lines?.[index] ?? labelOf(series, index) ?? chart.title,
    values: times.map((at, position) =>
      isAsleep[position] === true && chart.holdsAsleep !== true ? null : (points.get(at)?.[index] ?? null),
    ),
  }));
}

/** A series as it is shown. */
export interface ShownSeries {
  chart: Chart;
  lines: readonly Line[];
}

/** The series that the resource has, in the order of the charts. */
export function shownSeries<Data extends SeriesByName>(
  data: Data,
  charts: Charts<Data>,
  timeline: Timeline,
): ShownSeries[] {
  return Object.entries<Chart>(charts).flatMap(([name, chart]) => {
    const lines = linesOf(data[name] ?? { data: [] }, chart, timeline);
    return lines.length === 0 ? [] : [{ chart, lines }];
  });
}

/** The title of a line among those of all charts. */
export function titleOf({ title }: Chart, { name }: Line): string {
  return name === title ? title : `${title}: ${name.toLowerCase()}`;
}

/** The last value of a line; undefined when it has none. */
export function latestOf({ values }: Line): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}

/** The times in which the instance slept, in seconds since 1970. */
export function asleepSpans({ times, step, isAsleep }: Timeline): { from: number; until: number }[] {
  const spans: { from: number; until: number }[] = [];
  for (const [index, at] of times.entries()) {
    if (isAsleep[index] !== true) continue;
    const last = spans.at(-1);
    if (last !== undefined && at - last.until < step / 2) last.until = at + step;
    else spans.push({ from: at, until: at + step });
  }
  return spans;
}

/** The label of a line that is not alone in its series. */
function labelOf(series: Series, index: number): string | undefined {
  return "labels" in series && series.labels.length > 1 ? series.labels[index] : undefined;
}
