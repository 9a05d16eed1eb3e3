// Sleep and wake as a customer sees them: through the API, with official clients, and real engines that are stopped
// meanwhile.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  createDatabase,
  databaseNames,
  firstOf,
  firstOfMysql,
  MYSQL,
  POSTGRES,
  processesOf,
  untilCluster,
} from "../../support/pilvi/databases.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

type Resource = CacheResource | DatabaseClusterResource;

interface Document {
  data: Resource;
  message?: string;
}

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(async () => {
  await pilvi.close();
});

/** Opens a session and uses it: `use` returns the stored value, `end` closes it, `begin` keeps the engine awake. */
interface Session {
  use(): Promise<unknown>;
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

/** A sample of each kind: how it is created, and how customers use it. */
interface Sample {
  name: string;
  path: string;
  make(): Promise<Resource>;
  open(resource: Resource, password?: string): Promise<Session>;
  /** Words of the reason why it cannot sleep while a session has begun something. */
  busy: string;
  change: object;
}

const SAMPLES: Sample[] = [
  {
    name: "Postgres",
    path: "/databases/clusters",
    make: () => createCluster(pilvi, { type: POSTGRES }),
    async open(resource, password) {
      const client = await connectPg(resource as DatabaseClusterResource, {
        application_name: "tester",
        ...(password !== undefined && { password }),
      });
      return {
        use: () => firstOf(client, "select 42"),
        begin: () => client.query("begin; select 1"),
        end: () => client.end(),
      };
    },
    busy: "transaction",
    change: { config: { suspend_seconds: 3_000, retention_days: 3 } },
  },
  {
    name: "MySQL",
    path: "/databases/clusters",
    make: () => createCluster(pilvi, { type: MYSQL }),
    async open(resource, password) {
      const connection = await connectMysql(resource as DatabaseClusterResource, {
        ...(password !== undefined && { password }),
      });
      return {
        use: () => firstOfMysql(connection, "select 42"),
        begin: () => connection.query("start transaction"),
        end: () => connection.end(),
      };
    },
    // The engine does not know of a transaction that has touched no table, but the gateway does.
    busy: "in the middle of",
    change: { config: { suspend_seconds: 3_000, storage: 9 } },
  },
  {
    name: "a cache",
    path: "/caches",
    make: () => pilvi.createCache({ uses_hibernation: true, eviction_policy: "noeviction" }),
    async open({ attributes: { connection } }, password) {
      const { hostname: host, port, username = "" } = connection;
      const client = new Redis({
        host,
        port,
        username,
        password: password ?? connection.password ?? "",
        lazyConnect: true,
        retryStrategy: null as never,
      });
      client.on("error", () => undefined);
      await client.connect();
      await client.set("answer", 42);
      return {
        use: async () => Number(await client.get("answer")),
        begin: () => client.subscribe("news"),
        end: async () => client.disconnect(),
      };
    },
    busy: "subscribed",
    change: { hibernation_timeout: 50, name: "carts" },
  },
];

describe.each(SAMPLES)("$name", ({ path, make, open, busy, change }) => {
  let resource: Resource;
  beforeAll(async () => {
    resource = await make();
  });

  const suspend = () => pilvi.api<Document>("POST", `${path}/${resource.id}/suspend`);
  const read = async () => (await pilvi.api<Document>("GET", `${path}/${resource.id}`)).body.data;
  const engines = () => processesOf(pilvi, resource.id);

  async function asleep(): Promise<void> {
    const { status, body } = await suspend();
    if (status !== 200) throw new Error(`it does not sleep: ${status} ${JSON.stringify(body)}`);
    expect(body.data.meta.sleep.state).toBe("asleep");
    expect(engines()).toEqual([]);
  }

  test("is suspended, stays available, and wakes for a client", async () => {
    await asleep();
    expect((await suspend()).status).toBe(200);
    expect((await read()).attributes).toEqual({ ...resource.attributes, status: "available" });
    const session = await open(resource);
    expect(await session.use()).toBe(42);
    await session.end();
    await until("the wake is shown", async () => (await read()).meta.sleep.last_wake !== null);
    const { sleep } = (await read()).meta;
    expect(sleep).toMatchObject({ state: "awake", wakes: 1, pending: false });
    expect(sleep.last_wake?.reason).toMatchObject({ user: "app" });
    expect(sleep.last_wake?.reason.address).toMatch(/^127\.0\.0\.1:\d+$/);
    for (const span of Object.values(sleep.last_wake?.spans_ms ?? {})) expect(span).toBeGreaterThanOrEqual(0);
  });

  test("sleeps on while it is read, counted, and tried with a wrong password", async () => {
    await asleep();
    const before = (await read()).meta.sleep;
    await pilvi.api("GET", path);
    const metrics = await (await fetch(`${pilvi.url}/metrics`)).text();
    expect(metrics).toMatch(/^pilvi_sleeping\{kind="\w+"\} 1$/m);
    const intruder = await open(resource, "wrong").catch(() => null);
    expect(intruder).toBeNull();
    expect((await read()).meta.sleep).toEqual(before);
    expect(engines()).toEqual([]);
  });

  test("sleeps on when its settings are changed, and has them when it wakes", async () => {
    await asleep();
    const before = (await read()).meta.sleep;
    expect((await pilvi.api("PATCH", `${path}/${resource.id}`, change)).status).toBe(200);
    const { status, body } = await pilvi.api<Document>("GET", `${path}/${resource.id}?wait=available`);
    expect({ status, now: body.data.attributes.status }).toEqual({ status: 200, now: "available" });
    expect(body.data.attributes).toMatchObject(change);
    expect(body.data.meta.sleep).toEqual(before);
    expect(engines()).toEqual([]);
  });

  test("is not suspended in the middle of a session's work, and reports the reason", async () => {
    const session = await open(resource);
    await session.begin();
    const { status, body } = await suspend();
    expect(status).toBe(409);
    expect(body.message).toContain(busy);
    await session.end();
    await asleep();
  });

  test("is deleted in its sleep", async () => {
    await asleep();
    await pilvi.api("DELETE", `${path}/${resource.id}`);
    expect((await pilvi.api("GET", `${path}/${resource.id}?wait=deleted`)).status).toBe(404);
    expect(engines()).toEqual([]);
  });
});

test("an idle cluster falls asleep by itself, and is woken by a new database in it", async () => {
  const cluster = await createCluster(pilvi, { config: { suspend_seconds: 1 } });
  const stateOf = async () =>
    (await pilvi.api<Document>("GET", `/databases/clusters/${cluster.id}`)).body.data.meta.sleep;
  await until("it sleeps", async () => (await stateOf()).state === "asleep");
  // Once it is awake it could fall asleep again before the login, which would then be what woke it last.
  const longer = { config: { suspend_seconds: 3_600 } };
  expect((await pilvi.api("PATCH", `/databases/clusters/${cluster.id}`, longer)).status).toBe(200);
  await untilCluster(pilvi, cluster.id, "available");
  expect((await stateOf()).state).toBe("asleep");
  await createDatabase(pilvi, cluster.id, "reports");
  expect((await stateOf()).last_wake?.reason).toMatchObject({ user: "pilvi", address: null });
  expect(await databaseNames(await untilCluster(pilvi, cluster.id, "available"))).toEqual([
    "main",
    "reports",
  ]);
});

test("a cache that begins to hibernate keeps its address, and is handed over when it stops next", async () => {
  const cache = await pilvi.createCache({ eviction_policy: "noeviction" });
  const { port, username = "", password = "" } = cache.attributes.connection;
  const client = new Redis({ port, username, password, retryStrategy: null as never });
  client.on("error", () => undefined);
  await client.set("kept", "yes");
  await pilvi.api("PATCH", `/caches/${cache.id}`, { uses_hibernation: true });
  const changed = await pilvi.untilStatus(cache.id, "available");
  expect(changed.meta.sleep).toMatchObject({ state: "awake", pending: true });
  expect(changed.attributes.connection).toEqual(cache.attributes.connection);
  expect(await client.get("kept")).toBe("yes");
  client.disconnect();
  const { status, body } = await pilvi.api<Document>("POST", `/caches/${cache.id}/suspend`);
  expect({ status, sleep: body.data.meta.sleep }).toMatchObject({
    status: 200,
    sleep: { state: "asleep", pending: false },
  });
  const later = new Redis({ port, username, password, retryStrategy: null as never });
  expect(await later.get("kept")).toBe("yes");
  later.disconnect();
});
