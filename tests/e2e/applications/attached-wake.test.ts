// The wake of an application wakes the sleeping database and cache that are attached to it, at the same time, once.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Driver } from "../../../src/drivers/driver.ts";
import { localDriver } from "../../../src/drivers/local/index.ts";
import { hostSocket, instanceFolder } from "../../../src/host/os/layout.ts";
import { createLog } from "../../../src/lib/log.ts";
import type {
  CacheResource,
  DatabaseClusterResource,
  EnvironmentResource,
  EventResource,
} from "../../../src/sdk/index.ts";
import { openStore } from "../../crash/inspection.ts";
import { type Files, TestApplication } from "../../support/pilvi/applications.ts";
import { connectPg, createCluster, createDatabase, firstOf } from "../../support/pilvi/databases.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { Sleeper } from "../../support/pilvi/sleepers.ts";

/** A program that never connects to what it is attached to. */
const FILES: Files = {
  "bunfig.toml": "# This program runs on Bun.\n",
  "package.json": JSON.stringify({ name: "shop", private: true, scripts: { start: "bun server.ts" } }),
  "server.ts": `
    const { DATABASE_URL, REDIS_URL, PORT } = process.env;
    const text = DATABASE_URL && REDIS_URL ? "attached" : "alone";
    Bun.serve({ port: Number(PORT), hostname: "127.0.0.1", fetch: () => new Response(text) });
  `,
};

let pilvi: TestPilvi;
let application: TestApplication;
let driver: Driver;
let instance = "";
let cluster: DatabaseClusterResource;
let attached: CacheResource;
let other: CacheResource;

beforeAll(async () => {
  pilvi = await startPilvi();
  application = await TestApplication.create(pilvi);
  driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  await application.deploy(FILES);
  const hibernating = { uses_hibernation: true, hibernation_timeout: 60 };
  [cluster, attached, other] = await Promise.all([
    createCluster(pilvi),
    pilvi.createCache({ ...hibernating, name: "attached" }),
    pilvi.createCache({ ...hibernating, name: "other" }),
  ]);
  const attachments = {
    database_schema_id: await createDatabase(pilvi, cluster.id, "shop"),
    cache_id: attached.id,
  };
  const path = `/environments/${application.environmentId}`;
  expect(await pilvi.api("PATCH", path, attachments)).toMatchObject({ status: 200 });
  await until("the process has its attachments", async () => (await application.text()) === "attached");
  const route = (await driver.routes()).find(({ id }) => id === application.environmentId);
  instance = route?.instances[0] ?? "";
});

afterAll(() => pilvi.close());

async function wakeEventsOf(id: string): Promise<EventResource[]> {
  return (
    await pilvi.api<{ data: EventResource[] }>("GET", `/events?filter[resource]=${id}&filter[type]=awake`)
  ).body.data;
}

test("a request wakes an application with its database and its cache, and nothing else", async () => {
  const [database, cache, stranger] = [cluster, attached, other].map((each) => new Sleeper(pilvi, each)) as [
    Sleeper,
    Sleeper,
    Sleeper,
  ];
  await Promise.all([database.sleep(), cache.sleep(), stranger.sleep(), driver.suspend(instance)]);
  const wakesBefore = (await database.state()).wakes;
  expect(await application.text()).toBe("attached");
  for (const sleeper of [database, cache]) {
    await until("its wake is shown", async () => (await sleeper.state()).state === "awake");
    const reason = { user: "pilvi", application: `environment ${application.environmentId}` };
    expect((await sleeper.state()).last_wake?.reason).toEqual({ ...reason, database: null, address: null });
  }
  expect((await stranger.state()).state).toBe("asleep");

  // A client that comes later has woken nothing.
  const recorded = await database.state();
  const client = await connectPg(cluster);
  expect(await firstOf(client, "select 42")).toBe(42);
  await client.end();
  expect(await database.state()).toEqual(recorded);
  expect(recorded.wakes).toBe(wakesBefore + 1);
  await until("the wake has its event", async () => (await wakeEventsOf(cluster.id)).length > 0);
  expect(await wakeEventsOf(cluster.id)).toHaveLength(1);
});

test("requests wait until the environment hibernates, and until it runs again", async () => {
  const read = async (wait: string) => {
    const path = `/environments/${application.environmentId}?wait=${wait}`;
    const { body } = await pilvi.api<{ data: EnvironmentResource }>("GET", path);
    return body.data.attributes.status;
  };
  const asleep = read("hibernating");
  await driver.suspend(instance);
  expect(await asleep).toBe("hibernating");
  const awake = read("running");
  await application.text();
  expect(await awake).toBe("running");
  // The answers would be held for a minute.
}, 30_000);

test("the next sleep ends for a client of the database alone, which is then the reason", async () => {
  const database = new Sleeper(pilvi, cluster);
  await driver.suspend(instance);
  const { user, application: program } = { user: "app", application: null };
  await database.wokenBy({ user, database: "main", application: program }, async () => {
    const client = await connectPg(cluster);
    await client.end();
  });
  expect((await driver.observe(instance)).state).toBe("asleep");
});

test("a sleeping application no longer reaches and wakes a cache that is deleted", async () => {
  await driver.suspend(instance);
  const store = await openStore(pilvi);
  await until("nothing else leads to a look at it", async () => {
    const rows = await store`
      select from work
      where id = ${application.environmentId} and deadline_at is null and owner is null and run_at = 'infinity'`;
    return rows.length === 1;
  });
  await store.close();
  await pilvi.deleteCache(attached.id);
  let current = instance;
  // Without a request, since another cache may get the port.
  await until(
    "another process serves",
    async () => {
      const route = (await driver.routes()).find(({ id }) => id === application.environmentId);
      current = route?.instances[0] ?? instance;
      return current !== instance;
    },
    25_000,
  );
  const { manifest } = instanceFolder(pilvi.dataDir, current);
  const { spec } = JSON.parse(readFileSync(manifest, "utf8")) as { spec: { reaches: string[] } };
  expect(spec.reaches).toEqual([cluster.id]);
  expect(await application.text()).toBe("alone");
});
