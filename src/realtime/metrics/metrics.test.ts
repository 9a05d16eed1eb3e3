// Samples with a clock that the test moves, the averages that are kept of them, and the file.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../lib/log.ts";
import { Metrics, type Sampled } from "./index.ts";

const START = Date.parse("2026-03-01T00:00:00Z");
const HOUR = 3600;
const DAY = 24 * HOUR;
const log = createLog("realtime", "silent");
const folder = mkdtempSync(join(tmpdir(), "metrics-"));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function setUp(file = join(folder, `metrics-${(files += 1)}`)) {
  const clock = { nowMs: START };
  const metrics = new Metrics({ file, now: () => clock.nowMs, log });
  const sampleAfter = (seconds: number, ...all: Sampled[]) => {
    clock.nowMs += seconds * 1000;
    metrics.sample(all);
  };
  return { file, clock, metrics, sampleAfter };
}

function state(id: string, connectionCount: number, messagesReceived = 0, messagesSent = 0): Sampled {
  return { id, connectionCount, messagesReceived, messagesSent };
}

function timesOf(points: { at: string }[]): string[] {
  return points.map((each) => each.at.slice(11, 16));
}

test("connections are averaged over a minute, and messages of both directions counted a second", () => {
  const { metrics, sampleAfter } = setUp();
  sampleAfter(20, state("a", 10, 10, 10));
  sampleAfter(20, state("a", 40, 10, 50));
  sampleAfter(40, state("a", 7, 10, 50));
  expect(metrics.series("a", 6 * HOUR)).toEqual({
    connectionCount: [
      { at: "2026-03-01T00:00:00.000Z", value: 25 },
      { at: "2026-03-01T00:01:00.000Z", value: 7 },
    ],
    messageRate: [
      { at: "2026-03-01T00:00:00.000Z", value: 1.5 },
      { at: "2026-03-01T00:01:00.000Z", value: 0 },
    ],
  });
});

test("a value has the weight of the time for which it held", () => {
  const { metrics, sampleAfter } = setUp();
  sampleAfter(10, state("a", 0));
  sampleAfter(40, state("a", 100));
  expect(metrics.series("a", 6 * HOUR).connectionCount[0]?.value).toBe(80);
});

test("an unknown id has no points", () => {
  expect(setUp().metrics.series("nobody", DAY)).toEqual({ connectionCount: [], messageRate: [] });
});

test("the period decides the resolution, and how far back the points go", () => {
  const { metrics, sampleAfter } = setUp();
  for (let minute = 0; minute < 40 * 24 * 60; minute += 1) sampleAfter(60, state("a", minute));
  const points = (seconds: number) => metrics.series("a", seconds).connectionCount;
  const stepMs = (seconds: number) => {
    const [first, second] = points(seconds);
    return Date.parse(second?.at ?? "") - Date.parse(first?.at ?? "");
  };
  const found = [6 * HOUR, DAY, 3 * DAY, 7 * DAY, 30 * DAY].map((period) => [
    points(period).length,
    stepMs(period) / 60_000,
  ]);
  expect(found).toEqual([
    [360, 1],
    [288, 5],
    [144, 30],
    [336, 30],
    [360, 120],
  ]);
  expect(metrics.series("a", 90 * DAY).connectionCount).toHaveLength(360);
});

test("coarse buckets average the whole of their time", () => {
  const { metrics, sampleAfter } = setUp();
  for (let minute = 1; minute < 120; minute += 1)
    sampleAfter(60, state("a", minute < 60 ? 0 : 100, minute * 60));
  const { connectionCount, messageRate } = metrics.series("a", 30 * DAY);
  expect(connectionCount).toHaveLength(1);
  expect(connectionCount[0]?.value).toBeCloseTo((100 * 60) / 119, 2);
  expect(messageRate[0]?.value).toBeCloseTo(1, 3);
});

test("time without a measurement is a gap, and leaves the period in the end", () => {
  const { metrics, sampleAfter, clock } = setUp();
  sampleAfter(30, state("a", 5));
  sampleAfter(600, state("a", 6));
  expect(timesOf(metrics.series("a", 6 * HOUR).connectionCount)).toEqual(["00:00", "00:10"]);
  clock.nowMs += 6 * HOUR * 1000 - 60_000;
  expect(timesOf(metrics.series("a", 6 * HOUR).connectionCount)).toEqual(["00:10"]);
  clock.nowMs += 60_000;
  expect(metrics.series("a", 6 * HOUR).connectionCount).toEqual([]);
});

test("a clock that was set back drops the points in the future", () => {
  const { metrics, sampleAfter, clock } = setUp();
  sampleAfter(60, state("a", 1, 60));
  sampleAfter(60, state("a", 2, 120));
  clock.nowMs = START;
  metrics.sample([state("a", 3, 120)]);
  sampleAfter(60, state("a", 4, 180));
  const { connectionCount, messageRate } = metrics.series("a", 6 * HOUR);
  expect(connectionCount.map((each) => each.value)).toEqual([4]);
  expect(messageRate.map((each) => each.value)).toEqual([1]);
});

test("the next process goes on with the saved series, even within a minute", async () => {
  const first = setUp();
  first.sampleAfter(10, state("cluster", 10, 100), state("app", 4));
  await first.metrics.save();
  const second = setUp(first.file);
  second.clock.nowMs = START + 10_000;
  const metrics = new Metrics({ file: first.file, now: () => second.clock.nowMs, log });
  metrics.load();
  second.clock.nowMs += 10_000;
  metrics.sample([state("cluster", 20, 0)]);
  expect(metrics.series("cluster", 6 * HOUR)).toEqual({
    connectionCount: [{ at: "2026-03-01T00:00:00.000Z", value: 15 }],
    messageRate: [{ at: "2026-03-01T00:00:00.000Z", value: 5 }],
  });
  expect(metrics.series("app", 6 * HOUR).connectionCount).toHaveLength(1);
});

test("removed applications are forgotten, in the file too", () => {
  const { file, metrics, sampleAfter } = setUp();
  sampleAfter(10, state("kept", 1), state("removed", 1));
  metrics.forget(new Set(["kept"]));
  metrics.saveSync();
  const next = setUp(file).metrics;
  next.load();
  expect(next.series("removed", DAY).connectionCount).toEqual([]);
  expect(next.series("kept", DAY).connectionCount).toHaveLength(1);
});

test("the file of a month of a busy cluster stays small", () => {
  const { file, metrics, sampleAfter } = setUp();
  for (let minute = 1; minute < 31 * 24 * 60; minute += 1) {
    const busy = state("busy", 100 + (minute % 97), minute * 601 + (minute % 13) * 7);
    sampleAfter(60, busy, state("idle", 0));
  }
  metrics.saveSync();
  expect(statSync(file).size).toBeLessThan(20_000);
});

test.each([
  ["", "empty"],
  ["not base64 of gzip", "text"],
  [
    Buffer.from(Bun.gzipSync(JSON.stringify({ version: 1, series: { a: "AAAA" } }))).toString("base64"),
    "short",
  ],
  [
    Buffer.from(Bun.gzipSync(JSON.stringify({ version: 9, series: {} }))).toString("base64"),
    "of another version",
  ],
  [Buffer.from(Bun.gzipSync("null")).toString("base64"), "null"],
])("a damaged file is set aside: %#", (content) => {
  const { file, metrics, sampleAfter } = setUp();
  writeFileSync(file, content);
  metrics.load();
  expect(existsSync(file)).toBe(false);
  expect(readFileSync(`${file}.damaged`, "utf8")).toBe(content);
  sampleAfter(10, state("a", 1));
  metrics.saveSync();
  expect(existsSync(file)).toBe(true);
});

test("a file that cannot be written causes no error", async () => {
  const { metrics, sampleAfter } = setUp(join(folder, "no", "such", "folder"));
  metrics.load();
  sampleAfter(10, state("a", 1));
  await metrics.save();
  metrics.saveSync();
  expect(metrics.series("a", DAY).connectionCount).toHaveLength(1);
});
