// Readings of real engines: figures move with the load, and measuring neither wakes an engine nor keeps it awake.
import type { SQL } from "bun";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, readFileSync } from "node:fs";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { MAX_BATCHES, type Reading, type ReadingBatch } from "../../contracts/readings.ts";
import { createLog } from "../../lib/log.ts";
import type { Host } from "../host.ts";
import { readingsFile } from "../os/layout.ts";
import { customerCache, customerDatabase, sleepySpec, TestHosts, type TestGateway } from "../test-support.ts";
import { ReadingBuffer } from "./reading-buffer.ts";

let hosts: TestHosts;
let host: Host;
let gateway: TestGateway;

beforeEach(async () => {
  hosts = new TestHosts();
  host = await startHost();
  gateway = await hosts.gateway();
});
afterEach(() => hosts.close());

/** Starts a host whose minutes only the test ends: at a full minute, the host itself would take counts away. */
async function startHost(): Promise<Host> {
  const started = await hosts.start();
  started.measurements.stop();
  return started;
}

/** Ends the minute of the host. @returns the reading of an instance in it. */
async function reading(id: string, from = host): Promise<Reading | undefined> {
  await from.measurements.endMinute();
  const all = batches(from);
  // An answer has so many batches at most.
  if (all.length === MAX_BATCHES) from.measurements.readings(from.measurements.readings(undefined).cursor);
  return all.at(-1)?.readings.find((each) => each.id === id);
}

const batches = (from: Host): ReadingBatch[] => from.measurements.readings(undefined).batches;

/** The sum of a counter over all batches that wait. */
const total = (id: string, name: "hits") =>
  batches(host)
    .flatMap(({ readings }) => readings.filter((each) => each.id === id))
    .reduce((sum, each) => sum + (each[name] ?? 0), 0);

test("a cache counts hits, misses, keys, clients, commands and bytes", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  const client = customerCache(await gateway.until(spec.id, "running"));
  await reading(spec.id);
  await client.set("a", "1");
  for (let i = 0; i < 10; i += 1) await client.get("a");
  for (let i = 0; i < 3; i += 1) await client.get("missing");
  const seen = await reading(spec.id);
  expect(seen).toMatchObject({ hits: 10, misses: 3, keys: 1, connections: 1, evictedKeys: 0 });
  expect(seen?.commands).toBeGreaterThanOrEqual(14);
  expect(seen?.networkInBytes).toBeGreaterThan(100);
  expect(seen?.dataBytes).toBeGreaterThan(100_000);
  expect(seen?.memoryBytes).toBeGreaterThan(1_000_000);
  expect(seen?.awakeMs).toBeGreaterThan(0);
  client.close();
  expect(await reading(spec.id)).toMatchObject({ hits: 0, misses: 0, keys: 1 });
});

test("a reading has the clients of the gateway, and none when the gateway has gone", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  await gateway.until(spec.id, "running");
  expect(await reading(spec.id)).toMatchObject({ gatewayConnections: 0 });
  gateway.send({ type: "clients", counts: { [spec.id]: 3, "cache-unknown": 9 } });
  await until("the host has the number", async () => (await reading(spec.id))?.gatewayConnections === 3);
  gateway.close();
  await until("the number is gone", async () => (await reading(spec.id))?.gatewayConnections === 0);
});

test.each(["postgres", "mysql"] as const)("a %s counts rows, transactions and its log", async (kind) => {
  const spec = sleepySpec(kind);
  await host.ensure(spec);
  const route = await gateway.until(spec.id, "running");
  await inSession(kind, route, spec.id, (client) =>
    client.unsafe("create table things (id int primary key)"),
  );
  counted = { rowsWritten: 0, commits: 0, walBytes: 0 };
  const connected = await inSession(kind, route, spec.id, async (client) => {
    for (let id = 0; id < 25; id += 1) await client.unsafe(`insert into things values (${id})`);
    return (await summed(spec.id))?.connections;
  });
  expect(connected).toBe(1);
  expect(counted.rowsWritten).toBeGreaterThanOrEqual(25);
  expect(counted.rowsWritten).toBeLessThan(50);
  expect(counted.commits).toBeGreaterThanOrEqual(25);
  expect(counted.walBytes).toBeGreaterThan(1_000);
});

let counted = { rowsWritten: 0, commits: 0, walBytes: 0 };

/** A reading, whose counters are added up. */
async function summed(id: string): Promise<Reading | undefined> {
  const seen = await reading(id);
  for (const name of ["rowsWritten", "commits", "walBytes"] as const) counted[name] += seen?.[name] ?? 0;
  return seen;
}

/** Runs a session, and adds up what is counted until the engine has published what the session did, after its end. */
async function inSession<T>(
  kind: "postgres" | "mysql",
  route: Awaited<ReturnType<TestGateway["until"]>>,
  id: string,
  work: (client: SQL) => Promise<T>,
): Promise<T> {
  const client = customerDatabase(kind, route);
  const result = await work(client);
  await client.close();
  await until("the session has ended", async () => {
    return (await summed(id))?.connections === 0;
  });
  return result;
}

test("processor time grows with work, and is that of the instance alone", async () => {
  const [busy, idle] = [sleepySpec("postgres"), sleepySpec("postgres")];
  await Promise.all([host.ensure(busy), host.ensure(idle)]);
  await host.measurements.endMinute();
  const client = customerDatabase("postgres", await gateway.until(busy.id, "running"));
  let used = 0;
  await until("work was seen", async () => {
    await client.unsafe("select sum(i) from generate_series(1, 300000) i");
    used += (await reading(busy.id))?.cpuMs ?? 0;
    return used >= 300;
  });
  const ofIdle = batches(host)
    .slice(1)
    .flatMap(({ readings }) => readings.filter(({ id }) => id === idle.id));
  expect(ofIdle.reduce((sum, { cpuMs }) => sum + cpuMs, 0)).toBeLessThan(used / 2);
  await client.close();
});

test("a sleeping instance has no readings, is not woken, and keeps the last figures of before", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  const client = customerCache(await gateway.until(spec.id, "running"));
  await client.set("a", "1");
  await client.get("a");
  client.close();
  await host.suspend(spec.id);
  expect(await reading(spec.id)).toBeDefined();
  expect(total(spec.id, "hits")).toBe(1);
  expect(await reading(spec.id)).toBeUndefined();
  expect(host.observe(spec.id).state).toBe("asleep");
  expect(hosts.pidsOf(spec.id)).toEqual([]);
  await gateway.wake(spec.id);
  expect(await reading(spec.id)).toMatchObject({ wakes: 1, hits: 0 });
});

test("readings do not keep a cache awake that listens by itself until it has been idle", async () => {
  const spec = sleepySpec("cache", { sleepAfterSeconds: 2 });
  await host.ensure({ ...spec, exposure: { ...spec.exposure, through: "engine" } });
  await host.ensure(spec);
  await until("it sleeps behind the gateway", async () => {
    await host.measurements.endMinute();
    return host.observe(spec.id).state === "asleep" || host.observe(spec.id).sleep !== null;
  });
});

test("the next host delivers what the control plane has not taken, and counts nothing twice", async () => {
  const spec = sleepySpec("cache");
  await host.ensure(spec);
  const client = customerCache(await gateway.until(spec.id, "running"));
  await client.set("a", "1");
  await client.get("a");
  expect((await reading(spec.id))?.hits).toBe(1);
  const untaken = batches(host);
  const next = await startHost();
  expect(batches(next)).toEqual(untaken);
  await next.measurements.endMinute();
  const { cursor, batches: all } = next.measurements.readings(undefined);
  expect(all.at(-1)?.readings.find(({ id }) => id === spec.id)).not.toHaveProperty("hits", 1);
  expect(next.measurements.readings(cursor).batches).toEqual([]);
  expect(readFileSync(readingsFile(hosts.dataDir), "utf8")).toBe("");
  client.close();
});

function batch(minute: number): ReadingBatch {
  return { at: new Date(minute * 60_000).toISOString(), readings: [] };
}

test("the buffer drops the oldest batches beyond its bound, and skips half a line", () => {
  const path = readingsFile(hosts.dataDir) + ".test";
  const log = createLog("test", "silent");
  const size = JSON.stringify(batch(0)).length + 1;
  const buffer = new ReadingBuffer(path, log, 3 * size);
  for (let minute = 0; minute < 20; minute += 1) buffer.add(batch(minute));
  expect(buffer.after(undefined).batches).toEqual([17, 18, 19].map(batch));
  expect(readFileSync(path, "utf8").length).toBeLessThanOrEqual(7 * size);
  appendFileSync(path, '{"at":"2026-');
  const { cursor, batches: kept } = new ReadingBuffer(path, log, 3 * size).after(undefined);
  expect(kept).toEqual([17, 18, 19].map(batch));
  // The cursor of another process takes nothing away.
  expect(buffer.after(cursor).batches).toHaveLength(3);
});
