// An application follows the address of what is attached to it at once, and a rotated password at its next start.
import { RedisClient } from "bun";
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Driver } from "../../../src/drivers/driver.ts";
import { localDriver } from "../../../src/drivers/local/index.ts";
import { hostSocket } from "../../../src/host/os/layout.ts";
import { createLog } from "../../../src/lib/log.ts";
import type { CacheResource, DatabaseClusterResource } from "../../../src/sdk/index.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { createCluster, createDatabase } from "../../support/pilvi/databases.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { openStore } from "../../crash/inspection.ts";

/** Does not start with a certain variable while a key is in its cache. */
const BRITTLE = `
  import { redis } from "bun";
  if (process.env.BRITTLE && (await redis.get("broken")) !== null) {
    console.error("It is broken.");
    process.exit(3);
  }
`;

let pilvi: TestPilvi;
let application: TestApplication;
let driver: Driver;
let cache: CacheResource;
let cluster: DatabaseClusterResource;

beforeAll(async () => {
  pilvi = await startPilvi({ env: { PILVI_PUBLIC_HOST: "localhost" } });
  driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  application = await TestApplication.create(pilvi);
  const type = "provider_managed_postgres";
  [cluster, cache] = await Promise.all([createCluster(pilvi, { type }), pilvi.createCache()]);
  const json = {
    shutdown_timeout: 1,
    cache_id: cache.id,
    database_schema_id: await createDatabase(pilvi, cluster.id, "shop"),
  };
  const path = `/environments/${application.environmentId}`;
  expect(await pilvi.api("PATCH", path, json)).toMatchObject({ status: 200 });
  const server = bunServer("shop");
  await application.deploy({
    ...server,
    "server.ts": BRITTLE + String(server["server.ts"]),
    Procfile: "web: bun server.ts\nworker: echo worker has $REDIS_PASSWORD; sleep infinity\n",
  });
});

afterAll(() => pilvi.close());

async function variable(name: string): Promise<string> {
  return await application.text(`/?variable=${name}`);
}

/** The processes that serve, and those in the background. */
async function instances(): Promise<string[]> {
  const routes = await driver.routes();
  return routes.find(({ id }) => id === application.environmentId)?.instances ?? [];
}

/** Nothing else leads to a look at the environment. */
async function untilSettled(): Promise<void> {
  await until("no former process is left", async () => (await instances()).length === 2);
  const store = await openStore(pilvi);
  await until("all work is done", async () => {
    const open = await store`
      select from work where kind in ('environments', 'caches', 'databases')
        and (deadline_at is not null or owner is not null or kind = 'environments' and run_at < 'infinity')`;
    return open.length === 0;
  });
  await store.close();
}

test("a cache and a database that become public are reached at their public address", async () => {
  await untilSettled();
  expect(await variable("REDIS_HOST")).toBe("127.0.0.1");
  expect(await pilvi.api("PATCH", `/caches/${cache.id}`, { is_public: true })).toMatchObject({ status: 200 });
  await until("it has the public address", async () => (await variable("REDIS_HOST")) === "localhost");
  await untilSettled();
  const config = { is_public: true };
  expect(await pilvi.api("PATCH", `/databases/clusters/${cluster.id}`, { config })).toMatchObject({
    status: 200,
  });
  await until("it has the public address", async () => (await variable("DB_HOST")) === "localhost");
  expect((await application.environment()).meta.last_error).toBeNull();
});

test.each(["awake", "asleep"])(
  "an %s application has a rotated password at its next start",
  async (state) => {
    await untilSettled();
    const before = await instances();
    const suspend = () => Promise.all(before.map((id) => driver.suspend(id)));
    const former = await variable("REDIS_PASSWORD");
    if (state === "asleep") await suspend();
    const body = { grace_seconds: 3_600 };
    const { body: answer } = await pilvi.api<{ data: CacheResource }>(
      "POST",
      `/caches/${cache.id}/rotate-credentials`,
      body,
    );
    const { password } = answer.data.attributes.connection;
    await untilSettled();
    expect(await instances()).toEqual(before);
    for (const id of before)
      expect((await driver.observe(id)).state).toBe(state === "asleep" ? "asleep" : "running");
    if (state === "awake") {
      expect(await variable("REDIS_PASSWORD")).toBe(former);
      await suspend();
    }
    expect(await variable("REDIS_PASSWORD")).toBe(password ?? "");
    expect(await variable("REDIS_URL")).toContain(password ?? "no password");
    expect(await instances()).toEqual(before);
  },
);

test("a refused change keeps no rotated password from the processes, and is tried when it is ordered again", async () => {
  await untilSettled();
  const before = await instances();
  const {
    hostname,
    port,
    password: former,
  } = (await pilvi.untilStatus(cache.id, "available")).attributes.connection;
  const keys = new RedisClient(`redis://:${former}@${hostname}:${port}`);
  await keys.set("broken", "yes");
  const order = { method: "set", variables: [{ key: "BRITTLE", value: "yes" }] };
  const path = `/environments/${application.environmentId}/variables`;
  await pilvi.api("POST", path, order);
  const isRefused = async () => (await application.environment()).meta.last_error?.includes("It is broken.");
  await until("the change is refused", async () => (await isRefused()) === true);
  const { body } = await pilvi.api<{ data: CacheResource }>(
    "POST",
    `/caches/${cache.id}/rotate-credentials`,
    {
      grace_seconds: 3_600,
    },
  );
  const password = body.data.attributes.connection.password ?? "";
  await untilSettled();
  expect([await isRefused(), await instances()]).toEqual([true, before]);
  await Promise.all(before.map((id) => driver.suspend(id)));
  expect(await variable("REDIS_PASSWORD")).toBe(password);
  await until("the worker has it", async () => {
    const logs = await pilvi.api("GET", `/environments/${application.environmentId}/logs?per_page=300`);
    return JSON.stringify(logs.body).includes(`worker has ${password}`);
  });
  await keys.del("broken");
  keys.close();
  await pilvi.api("POST", path, order);
  await until("the change is in force", async () => (await variable("BRITTLE")) === "yes");
});
