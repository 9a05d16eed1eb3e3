// The command that shows the metrics of a cache.
import { afterEach, expect, test } from "bun:test";
import { closeServers, one, serve } from "../test-server.ts";
import { fakeIo, runCommand, sampleCache } from "../test-support.ts";

afterEach(closeServers);

const available = sampleCache(1);
const path = `/caches/${available.id}`;

function at(minute: number): string {
  return `2026-03-15T08:${String(minute).padStart(2, "0")}:00.000Z`;
}

test("metrics are a table in 80 columns with the course of each series, or the API's answer", async () => {
  const points = [0, 10, 40, 59].map((minute) => ({ x: at(minute), y: [minute * 1_000, 5] }));
  const metrics = {
    data: {
      hits_and_misses: {
        labels: ["hits_per_second", "misses_per_second"],
        average: [27_250, 5],
        data: points,
      },
      size: { data: [{ x: at(59), y: 1_500_000 }], total: 1_500_000 },
      keys: { labels: ["keys"], average: [], data: [] },
    },
    meta: { period: "24h", available_periods: [] },
  };
  const url = serve({
    [`GET ${path}`]: one(available),
    [`GET ${path}/metrics`]: () => Response.json(metrics),
  });
  const io = fakeIo();
  await runCommand(io, url, "caches", "metrics", available.id, "--period", "24h");
  const lines = io.stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/\s{2,}/).slice(0, 3))).toEqual([
    ["SERIES", "LAST", "MEAN"],
    ["hits_and_misses hits_per_second", "59K", "27.3K"],
    ["hits_and_misses misses_per_second", "5", "5"],
    ["size", "1.5M", "1.5M"],
  ]);
  expect(lines[1]).toMatch(/ {2}▁ {2}▂ +▆ +█$/);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  const json = fakeIo();
  await runCommand(json, url, "caches", "metrics", available.id, "--json");
  expect(JSON.parse(json.stdout)).toEqual(metrics);
});
