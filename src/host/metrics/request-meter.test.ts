// The meter of requests: no answer is counted twice or lost, whichever of edge and host begins anew.
import { afterEach, beforeEach, expect, mock, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countedRoutesSchema, readingSchema, type CountedRoute } from "../../contracts/readings.ts";
import { CounterFile } from "./counter-file.ts";
import { RequestMeter } from "./request-meter.ts";

/** When the host of a test began, in seconds. */
const STARTED = 1_000;

let folder: string;
let meter: RequestMeter;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-requests-"));
  meter = host();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A host that takes up what the former has left. */
function host(): RequestMeter {
  const file = new CounterFile(join(folder, "requests.json"), countedRoutesSchema, { warn: mock() });
  return new RequestMeter(file, STARTED * 1_000);
}

/** The edge's counts of a route. */
function edgeCounts(counted: CountedRoute | null, route = "env-1"): void {
  meter.counted(new Map([[route, { counted }]]));
}

const counts = (since: number, ...answers: number[]) => ({ since, answers });

/** The answers with 2xx of a minute that ends. */
function endMinute(): number {
  const readings = meter.endMinute().map((reading) => readingSchema.parse(reading));
  return readings.reduce((sum, reading) => sum + (reading.responses2xx ?? 0), 0);
}

test("each minute has the answers that came in it, and a route without any has no reading", () => {
  edgeCounts(counts(STARTED + 1, 5, 1, 2, 3));
  expect(meter.endMinute()).toMatchObject([
    { id: "env-1", awakeMs: 0, responses2xx: 5, responses3xx: 1, responses4xx: 2, responses5xx: 3 },
  ]);
  edgeCounts(counts(STARTED + 1, 5, 1, 2, 3));
  expect(meter.endMinute()).toEqual([]);
  edgeCounts(counts(STARTED + 1, 7, 1, 2, 3));
  edgeCounts(counts(STARTED + 1, 8, 1, 2, 3));
  expect(endMinute()).toBe(3);
});

test("an edge that has forgotten a route counts from zero, even with higher counts than before", () => {
  edgeCounts(counts(STARTED + 1, 2, 0, 0, 0));
  expect(endMinute()).toBe(2);
  meter.counted(new Map());
  edgeCounts(counts(STARTED + 40, 9, 0, 0, 0));
  expect(endMinute()).toBe(9);
  // Another edge may begin in the same second.
  edgeCounts(counts(STARTED + 40, 4, 0, 0, 0));
  expect(endMinute()).toBe(4);
});

test("another host counts on from the minute that ended last, so a kill loses none", () => {
  edgeCounts(counts(STARTED - 10, 2, 0, 0, 0));
  meter.endMinute();
  edgeCounts(counts(STARTED - 10, 6, 0, 0, 0));
  meter = host();
  expect(endMinute()).toBe(0);
  edgeCounts(counts(STARTED - 10, 9, 0, 0, 0));
  edgeCounts(counts(STARTED - 5, 1, 0, 0, 0), "env-2");
  expect(endMinute()).toBe(8);
});

test("a host without the counts of the former does not count again what is counted", () => {
  edgeCounts(counts(STARTED - 10, 1_000_000, 0, 0, 0));
  expect(endMinute()).toBe(0);
  edgeCounts(counts(STARTED - 10, 1_000_002, 0, 0, 0));
  expect(endMinute()).toBe(2);
});

test("an edge of a release that counts no answers has no readings", () => {
  edgeCounts(null);
  expect(meter.endMinute()).toEqual([]);
});

test("times fall into the counter with the next longer time, and are added up", () => {
  for (const ms of [0, 2, 3, 100, 101, 45_000]) meter.answered("env-1", ms);
  const noProcess = { awakeMs: 0, computeMs: 0, cpuMs: 0, memoryBytes: 0, wakes: 0 };
  const times = { responsesIn2ms: 2, responsesIn5ms: 1, responsesIn100ms: 1, responsesIn200ms: 1 };
  expect(meter.endMinute()).toEqual([
    { id: "env-1", ...noProcess, ...times, responsesLater: 1, responseMs: 45_206 },
  ]);
  expect(meter.endMinute()).toEqual([]);
});
