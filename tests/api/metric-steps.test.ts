// Metrics in the steps that are asked for.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CacheMetrics } from "../../src/resources/caches/schema.ts";
import { takeReadings } from "../../src/resources/shared/metrics/intake.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MINUTES = 20 * 60;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const floor = (ms: number, length: number) => ms - (ms % length);

/** Creates a cache that is older than its metrics. */
async function newCache(): Promise<string> {
  const response = await api.request("/api/caches", { json: validCache });
  const { data } = (await response.json()) as { data: { id: string } };
  await api.db`update caches set created_at = now() - interval '400 days' where id = ${data.id}`;
  return data.id;
}

async function metricsOf(id: string, query: string): Promise<CacheMetrics> {
  const response = await api.request(`/api/caches/${id}/metrics?${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as CacheMetrics;
}

/** The beginnings of all steps from one moment to another. */
function stepsIn(fromMs: number, untilMs: number, ms: number): string[] {
  const first = floor(fromMs, ms);
  const count = (floor(untilMs, ms) - first) / ms + 1;
  return Array.from({ length: count }, (_, index) => new Date(first + index * ms).toISOString());
}

test("a period has a point for each minute, five minutes, hour or day where it is asked, with the same work", async () => {
  const id = await newCache();
  const nowMs = floor(Date.now(), MINUTE);
  const batches = Array.from({ length: MINUTES }, (_, index) => ({
    at: new Date(nowMs - (MINUTES - index) * MINUTE).toISOString(),
    readings: [
      { id, awakeMs: MINUTE, computeMs: 0, cpuMs: 0, memoryBytes: 0, wakes: 0, networkInBytes: index + 1 },
    ],
  }));
  await takeReadings(api.db, "host-1", batches, Date.now());
  for (const [period, step, ms] of [
    ["24h", "1m", MINUTE],
    ["24h", "1h", HOUR],
    ["7d", "5m", 5 * MINUTE],
    ["30d", "1h", HOUR],
    ["1y", "1d", DAY],
  ] as const) {
    const { data, meta } = await metricsOf(id, `period=${period}&step=${step}`);
    expect([meta.period, meta.step]).toEqual([period, step]);
    const { data: points, total } = data.bandwidth_usage;
    expect([step, total]).toEqual([step, (MINUTES * (MINUTES + 1)) / 2]);
    expect(points.map(({ x }) => x)).toEqual(stepsIn(nowMs - MINUTES * MINUTE, nowMs - MINUTE, ms));
  }
});

test("a step that is not kept for the period is refused with the steps that are", async () => {
  const response = await api.request(`/api/caches/${await newCache()}/metrics?period=3d&step=1m`);
  expect(response.status).toBe(422);
  expect(((await response.json()) as { errors: object }).errors).toEqual({
    step: ["The field step must be one of 5m, 15m, 30m, 1h, 2h, 1d for the period 3d."],
  });
});
