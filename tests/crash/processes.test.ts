// Whole processes of Pilvi end, and a customer notices nothing, as long as the engine runs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Observation } from "../../src/contracts/observation.ts";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket } from "../../src/host/os/layout.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { Database } from "../../src/store/database.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { isAlive } from "../support/pilvi/processes.ts";
import { Connection } from "./connection.ts";
import { expectExactly, openStore } from "./inspection.ts";

let pilvi: TestPilvi;
let store: Database;
let cache: CacheResource;
let connection: Connection;

beforeAll(async () => {
  pilvi = await startPilvi();
  store = await openStore(pilvi);
  cache = await pilvi.createCache({ eviction_policy: "noeviction" });
  connection = await Connection.open(cache);
  await connection.set("kept", "yes");
});

afterAll(async () => {
  connection.close();
  await store.close();
  await pilvi.close();
});

function enginePid(): number {
  const [pid = 0] = pilvi.enginePids(cache.id);
  return pid;
}

/** Kills the engine, waits until the host reports it, and returns when another engine runs. */
async function killEngine(): Promise<void> {
  const watching = new AbortController();
  const { promise: noticed, resolve } = Promise.withResolvers<void>();
  const { promise: synced, resolve: sync } = Promise.withResolvers<void>();
  const changed = ({ id, state }: Observation) => {
    if (id === cache.id && state === "starting") resolve();
  };
  localDriver(hostSocket(pilvi.dataDir)).watch({ changed, synced: () => sync() }, watching.signal);
  await synced;
  const engine = enginePid();
  process.kill(engine, "SIGKILL");
  await noticed;
  watching.abort();
  await until("another engine runs", () => pilvi.enginePids(cache.id).some((pid) => pid !== engine));
  await expectExactly(pilvi, store, [cache.id]);
}

test("a host that is stopped leaves engines running, and the next host adopts them", async () => {
  const engine = enginePid();
  const former = pilvi.runningPid("host");
  process.kill(former, "SIGTERM");
  await until("the former host has ended", () => !isAlive(former));
  expect(await connection.get("kept")).toBe("yes");
  await pilvi.untilReady();
  expect(pilvi.pidOf("host")).not.toBe(former);
  expect(await connection.get("kept")).toBe("yes");
  expect(enginePid()).toBe(engine);
  // The end of the engine that the first test killed may still be told until its next report is taken.
  const hasNoError = async () => (await pilvi.untilStatus(cache.id, "available")).meta.last_error === null;
  await until("no error is told", hasNoError);

  await killEngine();
  connection = await Connection.open(cache);
  expect(await connection.get("kept")).toBe("yes");
});

test("a host that adopts running engines reports no change", async () => {
  // A create passes through the same channel as reports, so the end of the engine that the last test killed has arrived
  // before it.
  await pilvi.deleteCache((await pilvi.createCache()).id);
  await expectExactly(pilvi, store, [cache.id]);
  const before = await pilvi.untilStatus(cache.id, "available");
  const changes: string[] = [];
  const subscription = await store.listen("status", (id) => changes.push(id));
  pilvi.kill("host");
  await pilvi.untilReady();
  const other = await pilvi.createCache();
  await until("the create is notified", () => changes.includes(other.id));
  expect(changes).not.toContain(before.id);
  await subscription.unlisten();
  await pilvi.deleteCache(other.id);
});

test("a killed `pilvi up` takes its processes along but no engine, and the next adopts the engines", async () => {
  const engine = enginePid();
  const [storeEngine] = pilvi.enginePids("store");
  const children = (["control", "gateway", "host"] as const).map((name) => pilvi.runningPid(name));
  await pilvi.crash();
  await pilvi.start();
  await until("its processes have ended", () => !children.some((pid) => isAlive(pid)));
  expect(enginePid()).toBe(engine);
  expect(pilvi.enginePids("store")).toEqual([storeEngine ?? 0]);
  expect(await connection.get("kept")).toBe("yes");
  await expectExactly(pilvi, store, [cache.id]);
});

test("children of a killed `pilvi up` end by themselves", async () => {
  const children = (["control", "gateway", "host"] as const).map((name) => pilvi.runningPid(name));
  await pilvi.crash();
  await until("all have ended", () => children.every((pid) => !isAlive(pid)));
  expect(await connection.get("kept")).toBe("yes");
  await pilvi.start();
  await pilvi.untilStatus(cache.id, "available");
});
