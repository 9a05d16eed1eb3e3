// Metrics of caches and database clusters: taken once, combined exactly, and read without a word to the host.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Reading, ReadingBatch } from "../../src/contracts/readings.ts";
import { COLUMNS } from "../../src/resources/shared/metrics/columns.ts";
import { instanceGauges } from "../../src/resources/shared/metrics/gauges.ts";
import { takeReadings } from "../../src/resources/shared/metrics/intake.ts";
import { eraseRow } from "../../src/resources/shared/rows.ts";
import { startApi, validCache, validDatabase, type TestApi } from "../support/api/api.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

interface Metrics {
  data: Record<
    string,
    { labels: string[]; average: number[]; data: { x: string; y: number | number[] }[]; total: number }
  >;
  meta: { period: string; step: string; available_periods: string[]; available_steps: string[] };
  errors?: Record<string, string[]>;
}

/** Creates a resource that is older than all metrics of these tests. */
async function make(path: string, json: object, into = api): Promise<string> {
  const { data } = (await (await into.request(path, { json })).json()) as { data: { id: string } };
  const table = path === "/api/caches" ? "caches" : "databases";
  await into.db.unsafe(`update ${table} set created_at = now() - interval '400 days' where id = $1`, [
    data.id,
  ]);
  return data.id;
}

const newCache = () => make("/api/caches", validCache);
const newCluster = () => make("/api/databases/clusters", validDatabase);

async function metricsOf(id: string, period: string): Promise<Metrics> {
  const path = id.startsWith("cache-") ? `/api/caches/${id}` : `/api/databases/clusters/${id}`;
  return (await (await api.request(`${path}/metrics?period=${period}`)).json()) as Metrics;
}

/** A reading of a whole minute awake. */
function reading(id: string, figures: Partial<Reading> = {}): Reading {
  return { id, awakeMs: MINUTE, computeMs: MINUTE, cpuMs: 600, memoryBytes: 1_000, wakes: 0, ...figures };
}

const stored = (id: string, storageBytes: number) => reading(id, { storageBytes });

const batch = (atMs: number, ...readings: Reading[]): ReadingBatch => ({
  at: new Date(atMs).toISOString(),
  readings,
});

const floor = (ms: number, length: number) => ms - (ms % length);

async function rowsOf(id: string, level: string, { db } = api): Promise<Record<string, unknown>[]> {
  return await db.unsafe(`select * from metrics_${level} where resource_id = $1 order by at`, [id]);
}

/** The numbers of a generator that always gives the same ones. */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

test("a minute that comes again, or under a deleted id, changes nothing", async () => {
  const [id, gone] = [await newCache(), await newCache()];
  const atMs = floor(Date.now(), 5 * MINUTE) - 10 * MINUTE;
  const first = batch(atMs, reading(id, { hits: 5 }), reading(gone), reading("cache-unknown"));
  await takeReadings(api.db, "host-1", [first], Date.now());
  await api.db.begin((tx) => eraseRow(tx, "caches", gone));
  const again = batch(atMs, reading(id, { hits: 99 }), reading(gone));
  await takeReadings(api.db, "host-1", [again, batch(atMs + 9 * MINUTE, reading(gone))], Date.now());
  expect((await rowsOf(id, "minutes")).map(({ hits }) => hits)).toEqual([5]);
  expect((await rowsOf(id, "fives")).map(({ hits }) => hits)).toEqual([5]);
  expect(await rowsOf(gone, "fives")).toHaveLength(0);
  expect(await rowsOf("cache-unknown", "minutes")).toHaveLength(0);
});

test("all levels agree with a model of four days, whatever the order and the repetitions", async () => {
  const other = await startApi();
  const { db } = other;
  const id = await make("/api/databases/clusters", validDatabase, other);
  const next = random(7);
  const nowMs = floor(Date.now(), MINUTE);
  const startMs = floor(nowMs, HOUR) - 4 * DAY;
  const minutes = new Map<number, Reading>();
  let waiting: ReadingBatch[] = [];
  for (let at = startMs; at < nowMs; at += MINUTE) {
    // Asleep for some hours, awake for others, and away for a while.
    const isAwake = Math.floor(at / (3 * HOUR)) % 2 === 0;
    const figures = {
      commits: Math.floor(next() * 1_000),
      memoryBytes: Math.floor(next() * 10_000),
      storageBytes: at - startMs,
      ...(next() < 0.9 && { connections: Math.floor(next() * 20) }),
    };
    const ofMinute = isAwake ? [reading(id, figures)] : [];
    if (ofMinute[0] !== undefined) minutes.set(at, ofMinute[0]);
    waiting.push(batch(at, ...ofMinute));
    if (next() > 0.01) continue;
    // An earlier part comes again after the later one.
    const half = Math.floor(waiting.length / 2);
    await takeReadings(db, "host-1", waiting.slice(half), at);
    await takeReadings(db, "host-1", waiting, at);
    waiting = [];
  }
  await takeReadings(db, "host-1", waiting, nowMs);
  for (const [level, length] of [
    ["fives", 5 * MINUTE],
    ["hours", HOUR],
    ["days", DAY],
  ] as const) {
    const groups = Map.groupBy(minutes, ([at]) => floor(at, length));
    const ended = [...groups].filter(([at]) => at + length <= floor(nowMs, MINUTE));
    const model = ended.map(([at, rows]) => {
      const readings = rows.map(([, each]) => each);
      const connections = readings.flatMap((each) => each.connections ?? []);
      return {
        at,
        minutes: readings.length,
        commits: readings.reduce((sum, each) => sum + (each.commits ?? 0), 0),
        memory: readings.reduce((sum, each) => sum + each.memoryBytes, 0) / readings.length,
        storage: readings.at(-1)?.storageBytes,
        isConnected: connections.length > 0,
      };
    });
    const rows = (await rowsOf(id, level, other)) as {
      at: Date;
      minutes: number;
      commits: number;
      storage_bytes: number;
    }[];
    // Partitions that are no longer kept have gone.
    const since = rows[0]?.at.getTime() ?? Infinity;
    const expected = model.filter(({ at }) => at >= since);
    expect(rows.map(({ at }) => at.getTime())).toEqual(expected.map(({ at }) => at));
    expect(rows.map(({ commits }) => commits)).toEqual(expected.map(({ commits }) => commits));
    expect(rows.map(({ storage_bytes }) => storage_bytes)).toEqual(
      expected.map(({ storage }) => storage ?? 0),
    );
    expect(rows.map((row) => row.minutes)).toEqual(expected.map((each) => each.minutes));
    for (const [index, row] of rows.entries()) {
      expect(Number((row as unknown as Record<string, number>)["memory_bytes"])).toBeCloseTo(
        expected[index]?.memory ?? 0,
        6,
      );
    }
    expect(rows.length).toBeGreaterThan(2);
  }
  await other.stop();
});

test("zero while it sleeps, nothing while nobody measured, and the last storage throughout", async () => {
  const id = await newCluster();
  const nowMs = floor(Date.now(), MINUTE);
  const minute = (ago: number, ...readings: Reading[]) => batch(nowMs - ago * MINUTE, ...readings);
  const awake = reading(id, { commits: 120, storageBytes: 5_000, blocksHit: 3, blocksRead: 1, wakes: 1 });
  await takeReadings(api.db, "host-1", [minute(47, awake), minute(46), minute(43, awake)], Date.now());
  const { data } = await metricsOf(id, "6h");
  const at = (ago: number) => new Date(nowMs - ago * MINUTE).toISOString();
  const since = ({ x }: { x: string }) => x >= at(47) && x <= at(43);
  expect(data["transactions"]?.labels).toEqual(["commits_per_second", "rollbacks_per_second"]);
  expect(data["transactions"]?.data.filter(since)).toEqual([
    { x: at(47), y: [2, 0] },
    { x: at(46), y: [0, 0] },
    { x: at(43), y: [2, 0] },
  ]);
  expect(data["cpu_usage"]?.data.filter(since).map(({ y }) => y)).toEqual([[0.01], [0], [0.01]]);
  expect(data["awake"]?.data.filter(since).map(({ y }) => y)).toEqual([[1], [0], [1]]);
  expect(data["storage_usage"]?.data.filter(since).map(({ y }) => y)).toEqual([[5_000], [5_000], [5_000]]);
  expect(data["cache_hit_ratio"]?.data).toEqual([at(47), at(43)].map((x) => ({ x, y: [0.75] })));
  expect(data["replica_lag"]).toEqual({ labels: ["seconds"], average: [], data: [] } as never);
});

test("every period has its shape and at most 360 points, and shows the same work", async () => {
  const id = await newCache();
  const nowMs = floor(Date.now(), MINUTE);
  const figures = {
    hits: 60,
    misses: 30,
    commands: 600,
    networkInBytes: 10,
    networkOutBytes: 5,
    dataBytes: 77,
  };
  const batches = Array.from({ length: 20 * 60 }, (_, index) =>
    batch(nowMs - (20 * 60 - index) * MINUTE, reading(id, figures)),
  );
  await takeReadings(api.db, "host-1", batches, Date.now());
  for (const period of ["6h", "24h", "3d", "7d", "30d", "1y"]) {
    const { data, meta } = await metricsOf(id, period);
    expect(meta).toMatchObject({ period, available_periods: ["6h", "24h", "3d", "7d", "30d", "1y"] });
    expect(meta.available_steps).toContain(meta.step);
    expect(Object.keys(data)).toEqual(
      expect.arrayContaining(["hits_and_misses", "throughput", "size", "bandwidth_usage"]),
    );
    const { hits_and_misses: hits, bandwidth_usage: bandwidth, size } = data;
    expect(hits?.data.length).toBeGreaterThan(0);
    expect(hits?.data.length).toBeLessThanOrEqual(360);
    expect(hits?.labels).toEqual(["hits_per_second", "misses_per_second"]);
    // All minutes of these tests are in the period, but the shortest one.
    if (period !== "6h") expect(bandwidth?.total).toBe(20 * 60 * 15);
    expect(hits?.data.at(-1)?.y).toEqual([1, 0.5]);
    expect(size?.total).toBe(77);
  }
});

test("an unknown period is refused, and another organization has no such resource", async () => {
  const id = await newCache();
  const refused = await api.request(`/api/caches/${id}/metrics?period=1h`);
  expect(refused.status).toBe(422);
  expect(Object.keys(((await refused.json()) as Metrics).errors ?? {})).toEqual(["period"]);
  const other = await api.newToken(["*"], "elsewhere");
  expect((await api.request(`/api/caches/${id}/metrics`, { token: other })).status).toBe(404);
  const blind = await api.newToken(["databases:read"]);
  expect((await api.request(`/api/caches/${id}/metrics`, { token: blind })).status).toBe(403);
});

/** Gives a cluster two replicas. */
async function addReplicas(id: string): Promise<[near: string, far: string]> {
  const ids = [`replica-near-${id}`, `replica-far-${id}`] as const;
  for (const replica of ids) {
    await api.db`
      insert into instances (id, kind, resource_id, host_id, port)
      select ${replica}, 'replicas', ${id}, 'host-1', max(port) + 1 from instances`;
  }
  return [...ids];
}

test("the disk of replicas is a part of the storage, from when each of them was there", async () => {
  const id = await newCluster();
  const [near, far] = await addReplicas(id);
  const nowMs = floor(Date.now(), MINUTE);
  const batches = [
    batch(nowMs - 4 * MINUTE, stored(id, 500)),
    batch(nowMs - 3 * MINUTE, stored(near, 400)),
    batch(nowMs - 2 * MINUTE, stored(id, 600), stored(near, 400), stored(far, 50)),
  ];
  await takeReadings(api.db, "host-1", batches, Date.now());
  const { data } = await metricsOf(id, "6h");
  const at = (ago: number) => new Date(nowMs - ago * MINUTE).toISOString();
  const points = data["storage_usage"]?.data.filter(({ x }) => x >= at(4) && x <= at(2));
  expect(points?.map(({ y }) => y)).toEqual([[500], [900], [1_050]]);
});

test("the lag is that of the replica that is furthest behind, also while the cluster sleeps", async () => {
  const id = await newCluster();
  const replicas = await addReplicas(id);
  const nowMs = floor(Date.now(), MINUTE);
  const lagging = (...lags: number[]) =>
    lags.map((replicaLagSeconds, index) => reading(replicas[index] ?? "", { replicaLagSeconds }));
  const batches = [
    batch(nowMs - 4 * MINUTE, reading(id), ...lagging(0, 90)),
    batch(nowMs - 3 * MINUTE, ...lagging(1)),
    batch(nowMs - 2 * MINUTE, reading(id)),
  ];
  await takeReadings(api.db, "host-1", batches, Date.now());
  const { data } = await metricsOf(id, "6h");
  const at = (ago: number) => new Date(nowMs - ago * MINUTE).toISOString();
  expect(data["replica_lag"]?.data).toEqual([
    { x: at(4), y: [90] },
    { x: at(3), y: [1] },
  ]);
  expect(data["awake"]?.data).toContainEqual({ x: at(3), y: [0] });
});

test("Prometheus gets the last minute of running instances, and of its own organization alone", async () => {
  api.app.metrics.addFigures(instanceGauges, api.context);
  const id = await newCache();
  const minute = batch(
    floor(Date.now(), MINUTE) - MINUTE,
    reading(id, { connections: 3, gatewayConnections: 5, cpuMs: 30_000 }),
  );
  await takeReadings(api.db, "host-1", [minute], Date.now());
  const text = await (await api.request("/metrics")).text();
  expect(text).toContain(`\npilvi_instance_processors{kind="caches",id="${id}"} 0.5\n`);
  expect(text).toContain(`\npilvi_instance_connections{kind="caches",id="${id}"} 3\n`);
  expect(text).toContain(`\npilvi_instance_gateway_connections{kind="caches",id="${id}"} 5\n`);
  expect((await metricsOf(id, "6h")).data.gateway_connections?.data.at(-1)?.y).toEqual([5]);
  const token = await api.newToken(["*"], "elsewhere");
  expect(await (await api.request("/metrics", { token })).text()).not.toContain(id);
});

test("clients that stay at the gateway while their instance sleeps are counted", async () => {
  const id = await newCache();
  const asleep = {
    awakeMs: 0,
    computeMs: 0,
    cpuMs: 0,
    memoryBytes: 0,
    connections: 0,
    gatewayConnections: 7,
  };
  const minute = batch(floor(Date.now(), MINUTE) - MINUTE, reading(id, asleep));
  await takeReadings(api.db, "host-1", [minute], Date.now());
  const text = await (await api.request("/metrics")).text();
  const lines = text.split("\n").filter((line) => line.startsWith("pilvi_instance_") && line.includes(id));
  expect(lines).toEqual([`pilvi_instance_gateway_connections{kind="caches",id="${id}"} 7`]);
  const { data } = await metricsOf(id, "6h");
  expect([data.gateway_connections, data.awake].map((chart) => chart?.data.at(-1)?.y)).toEqual([[7], [0]]);
});

test("minutes and five minutes go with their days, and every column has a figure", async () => {
  const nowMs = Date.now() + 60 * DAY;
  await takeReadings(api.db, "host-1", [batch(nowMs)], nowMs);
  const rows = await api.db<{ name: string }[]>`
    select c.relname as name from pg_inherits join pg_class c on c.oid = inhrelid
    where inhparent in ('metrics_minutes'::regclass, 'metrics_fives'::regclass)`;
  expect(rows.length).toBeLessThanOrEqual(4 + 11);
  expect(rows.every(({ name }) => name > "metrics")).toBe(true);
  const columns = await api.db<{ name: string }[]>`
    select column_name as name from information_schema.columns where table_name = 'metrics_days'`;
  expect(columns.map(({ name }) => name).sort()).toEqual(["resource_id", "at", "minutes", ...COLUMNS].sort());
});
