// The metrics of instances for Prometheus: their names, their units, and the figures that each engine has.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Reading, ReadingBatch } from "../../src/contracts/readings.ts";
import { instanceGauges } from "../../src/resources/shared/metrics/gauges.ts";
import { takeReadings } from "../../src/resources/shared/metrics/intake.ts";
import { startApi, validCache, validDatabase, type TestApi } from "../support/api/api.ts";

const MINUTE = 60_000;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
  api.app.metrics.addFigures(instanceGauges, api.context);
});
afterAll(() => api.stop());

async function make(path: string, json: object): Promise<string> {
  const { data } = (await (await api.request(path, { json })).json()) as { data: { id: string } };
  return data.id;
}

/** A reading of a whole minute awake. */
function reading(id: string, figures: Partial<Reading>): Reading {
  return { id, awakeMs: MINUTE, computeMs: MINUTE, cpuMs: 600, memoryBytes: 1_000, wakes: 0, ...figures };
}

const batch = (atMs: number, ...readings: Reading[]): ReadingBatch => ({
  at: new Date(atMs).toISOString(),
  readings,
});

/** The lines of an instance in the answer for Prometheus, without their labels. */
async function gaugesOf(id: string): Promise<Record<string, number>> {
  const text = await (await api.request("/metrics")).text();
  const lines = text.split("\n").filter((line) => line.startsWith("pilvi_instance_") && line.includes(id));
  return Object.fromEntries(
    lines.map((line) => [
      line.slice("pilvi_instance_".length, line.indexOf("{")),
      Number(line.split(" ")[1]),
    ]),
  );
}

test("Prometheus gets each figure that an engine has, rates by the second, and no line for another", async () => {
  const cache = await make("/api/caches", validCache);
  const cluster = await make("/api/databases/clusters", validDatabase);
  const nowMs = Math.floor(Date.now() / MINUTE) * MINUTE;
  const counted = { hits: 120, misses: 60, commands: 600, evictedKeys: 30, expiredKeys: 0 };
  const traffic = { networkInBytes: 6_000, networkOutBytes: 60 };
  const held = { connections: 4, blockedConnections: 1, keys: 9, dataBytes: 2_048 };
  const written = { commits: 90, rollbacks: 6, rowsWritten: 240, walBytes: 61_440, deadlocks: 3 };
  const read = { blocksHit: 5_400, blocksRead: 600 };
  const states = {
    connections: 8,
    activeConnections: 2,
    idleConnections: 5,
    idleInTransactionConnections: 1,
  };
  await takeReadings(
    api.db,
    "host-1",
    [
      // Only the latest minute counts.
      batch(nowMs - 2 * MINUTE, reading(cache, { hits: 1, deadlocks: 1 })),
      batch(
        nowMs - MINUTE,
        reading(cache, { ...counted, ...traffic, ...held, awakeMs: 15_000 }),
        reading(cluster, { ...written, ...read, ...states, storageBytes: 4_096 }),
      ),
    ],
    Date.now(),
  );
  expect(await gaugesOf(cache)).toEqual({
    processors: 0.01,
    awake_ratio: 0.25,
    memory_bytes: 1_000,
    connections: 4,
    blocked_connections: 1,
    keys: 9,
    data_bytes: 2_048,
    hits_per_second: 2,
    misses_per_second: 1,
    commands_per_second: 10,
    evicted_keys_per_second: 0.5,
    expired_keys_per_second: 0,
    network_in_bytes_per_second: 100,
    network_out_bytes_per_second: 1,
  });
  expect(await gaugesOf(cluster)).toEqual({
    processors: 0.01,
    awake_ratio: 1,
    memory_bytes: 1_000,
    storage_bytes: 4_096,
    connections: 8,
    active_connections: 2,
    idle_in_transaction_connections: 1,
    commits_per_second: 1.5,
    rollbacks_per_second: 0.1,
    rows_written_per_second: 4,
    blocks_hit_per_second: 90,
    blocks_read_per_second: 10,
    deadlocks_per_second: 0.05,
    wal_bytes_per_second: 1_024,
  });
  const sums = await api.app.metrics.text("without ids");
  expect(sums).toContain(`\npilvi_instance_wal_bytes_per_second{kind="databases"} 1024\n`);
  expect(sums).not.toContain("pilvi_instance_awake_ratio");
});

test("every metric of an instance is a gauge by its name, its type and the documentation", async () => {
  const documented = await Bun.file(`${import.meta.dir}/../../docs/operations.md`).text();
  for (const { name, type, labels } of instanceGauges.families) {
    expect({ type, labels }).toEqual({ type: "gauge", labels: ["kind", "id"] });
    expect(name).toMatch(/^pilvi_instance_[a-z_]+$/);
    expect(name).not.toEndWith("_total");
    expect(documented).toContain(`\`${name}\``);
  }
});
