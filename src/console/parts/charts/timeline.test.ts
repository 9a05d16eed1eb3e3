// Series brought onto one row of times: gaps, sleep, and values that hold while an instance sleeps.
import { expect, test } from "bun:test";
import type { Chart, Charts, SeriesByName } from "./series.ts";
import { asleepSpans, latestOf, shownSeries, timelineOf } from "./timeline.ts";

const START = Date.parse("2026-03-15T08:00:00Z");
const SECONDS = 3_600;

const at = (minute: number) => START / 1000 + minute * 60;
const lines = (points: [minute: number, ...values: number[]][], ...labels: string[]) => ({
  labels,
  data: points.map(([minute, ...y]) => ({ x: new Date(START + minute * 60_000).toISOString(), y })),
});

const data = {
  cpu: lines(
    [
      [0, 0.5],
      [1, 0],
      [2, 0],
      [3, 0.25],
      [9, 0.75],
    ],
    "processors",
  ),
  disk: {
    data: lines([
      [0, 7],
      [1, 7],
      [2, 7],
      [3, 8],
    ]).data.map(({ x, y: [y = 0] }) => ({ x, y })),
  },
  lag: lines([], "seconds"),
  pair: lines([[3, 1, 2]], "one", "two"),
  awake: lines(
    [
      [0, 1],
      [1, 0],
      [2, 0],
      [3, 0.5],
      [9, 1],
    ],
    "ratio",
  ),
} satisfies SeriesByName;

const charts: Charts<typeof data> = {
  cpu: { title: "Processor", unit: "share" },
  disk: { title: "Disk", unit: "bytes", holdsAsleep: true },
  lag: { title: "Lag", unit: "seconds" },
  pair: { title: "Pair", unit: "count", lines: ["First", "Second"] },
};

const timeline = timelineOf(data, SECONDS, START + SECONDS * 1000);
const shown = shownSeries(data, charts, timeline);
const valuesOf = (chart: Chart) =>
  shown.find((each) => each.chart === chart)?.lines.map(({ values }) => values);

test("a time stands in each gap, and the period begins and ends where it does", () => {
  expect(timeline.times).toEqual([0, 1, 2, 3, 4, 9].map(at));
  expect([timeline.from, timeline.until, timeline.step]).toEqual([at(0), at(60), 60]);
  expect(timeline.isMeasured).toEqual([true, true, true, true, false, true]);
});

test("a value while the instance slept is a gap, unless it holds", () => {
  expect(valuesOf(charts.cpu)).toEqual([[0.5, null, null, 0.25, null, 0.75]]);
  expect(valuesOf(charts.disk)).toEqual([[7, 7, 7, 8, null, null]]);
});

test("each label has a line with its name, and a series without points has none", () => {
  expect(shown.map(({ chart }) => chart.title)).toEqual(["Processor", "Disk", "Pair"]);
  const pair = shown[2]?.lines ?? [];
  expect(pair.map(({ name }) => name)).toEqual(["First", "Second"]);
  expect(pair.map(latestOf)).toEqual([1, 2]);
});

test("times asleep that follow each other are one stretch", () => {
  expect(asleepSpans(timeline)).toEqual([{ from: at(1), until: at(3) }]);
  expect(asleepSpans(timelineOf({}, SECONDS, START))).toEqual([]);
});
