// Changes of desired state while instances sleep, fall asleep, or wake: settings, databases, deletes, and several at
// once.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import {
  connectMysql,
  connectPg,
  createDatabase,
  databaseNames,
  firstOf,
  firstOfMysql,
} from "../support/pilvi/databases.ts";
import { Failpoints, startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { requestSuspend } from "../support/pilvi/suspends.ts";
import { openSession, type Resource } from "../crash/ledger-sessions.ts";
import {
  expectAsleep,
  pathOf,
  putToSleep,
  read,
  sleepyKinds,
  suspend,
  untilAwake,
} from "../crash/sleepers.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startPilvi({ env: failpoints.env });
});
afterEach(() => failpoints.release());
afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

async function write(resource: Resource): Promise<void> {
  const session = await openSession(resource);
  await session.prepare();
  await session.add(42);
  await session.end();
}

async function expectKept(resource: Resource): Promise<void> {
  const session = await openSession(resource);
  expect(await session.numbers().finally(() => session.end())).toEqual([42]);
}

async function change(resource: Resource, attributes: object): Promise<void> {
  const { status, body } = await pilvi.api("PATCH", pathOf(resource), attributes);
  expect([status, JSON.stringify(body)]).toEqual([200, expect.any(String)]);
  expect((await pilvi.api("GET", `${pathOf(resource)}?wait=available`)).status).toBe(200);
}

async function expectDeleted(resource: Resource): Promise<void> {
  expect((await pilvi.api("GET", `${pathOf(resource)}?wait=deleted`)).status).toBe(404);
  expect(pilvi.enginePids(resource.id)).toEqual([]);
  expect(pilvi.instanceFolders()).not.toContain(resource.id);
}

/** The changes that turn each kind's sleep off and on, and give it more memory. */
function changesOf(resource: Resource): { never: object; again: object; bigger: object } {
  if (resource.type === "caches") {
    return {
      never: { uses_hibernation: false },
      again: { uses_hibernation: true },
      bigger: { size: "valkey-flex-1gb" },
    };
  }
  const isPostgres = resource.attributes.connection.protocol === "postgres";
  return {
    never: { config: { suspend_seconds: 0 } },
    again: { config: { suspend_seconds: 3_600 } },
    bigger: { config: isPostgres ? { cu_max: 0.5 } : { size: "mysql-flex-1gb" } },
  };
}

async function maxmemoryOf({ attributes }: CacheResource): Promise<number> {
  const { hostname: host, port, username = "", password = "" } = attributes.connection;
  const client = new Redis({ host, port, username, password });
  const info = await client.info("memory");
  client.disconnect();
  return Number(/^maxmemory:(\d+)/m.exec(info)?.[1]);
}

/** The engine's own setting that grows with the memory. */
async function memoryOf(resource: Resource): Promise<number> {
  if (resource.type === "caches") {
    const bytes = await maxmemoryOf(resource);
    expect((await read(pilvi, resource)).meta.limits).toMatchObject({ memory_bytes: bytes });
    return bytes;
  }
  if (resource.attributes.connection.protocol === "postgres") {
    const client = await connectPg(resource);
    const connections = Number(await firstOf(client, "show max_connections"));
    await client.end();
    return connections;
  }
  const connection = await connectMysql(resource);
  const bytes = Number(await firstOfMysql(connection, "select @@innodb_buffer_pool_size"));
  await connection.end();
  return bytes;
}

describe.each(sleepyKinds())("$name", (kind) => {
  let resource: Resource;
  beforeAll(async () => {
    resource = await kind.make(pilvi);
    await write(resource);
  });

  test("with its sleep turned off keeps its address and its data, and may sleep when it is turned on again", async () => {
    const { never, again } = changesOf(resource);
    for (let round = 0; round < 2; round += 1) {
      await putToSleep(pilvi, resource);
      await change(resource, never);
      await expectKept(resource);
      await untilAwake(pilvi, resource);
      // A cluster that does not fall asleep by itself can be suspended all the same.
      if (resource.type === "caches") expect((await suspend(pilvi, resource)).status).toBe(409);
      await change(resource, again);
      await expectKept(resource);
      await putToSleep(pilvi, resource);
      expect((await read(pilvi, resource)).meta.sleep.pending).toBe(false);
      await expectKept(resource);
    }
  });

  test("that gets more memory in its sleep sleeps on, and has it when it wakes", async () => {
    const before = await memoryOf(resource);
    await putToSleep(pilvi, resource);
    await change(resource, changesOf(resource).bigger);
    await expectAsleep(pilvi, resource);
    await expectKept(resource);
    await untilAwake(pilvi, resource);
    expect(await memoryOf(resource)).toBeGreaterThan(before);
  });

  test("that several requests suspend at once falls asleep once, and may be deleted at the same time", async () => {
    const answers = await Promise.all([1, 2, 3].map(() => requestSuspend(pilvi, pathOf(resource))));
    for (const { status } of answers) expect(status).toBe(200);
    await expectAsleep(pilvi, resource);
    expect(new Set(answers.map(({ body }) => body.data.meta.sleep.since)).size).toBe(1);
    await expectKept(resource);
    const [asked] = await Promise.all([suspend(pilvi, resource), pilvi.api("DELETE", pathOf(resource))]);
    expect(asked.status).toBeOneOf([200, 404, 409]);
    await expectDeleted(resource);
  });
});

describe.each(sleepyKinds().filter((_, index) => index % 2 === 0))("$name", (kind) => {
  test.each(["host.suspend.draining", "host.suspend.recorded", "host.suspend.ended"])(
    "that is deleted while it falls asleep, at %s, is gone",
    async (place) => {
      const resource = await kind.make(pilvi);
      failpoints.arm(place);
      const asked = suspend(pilvi, resource);
      await failpoints.reached();
      expect((await pilvi.api("DELETE", pathOf(resource))).status).toBe(204);
      failpoints.release();
      expect((await asked).status).toBeOneOf([200, 404, 409]);
      await expectDeleted(resource);
    },
  );

  test.each(["host.start.noted", "host.start.spawned"])(
    "that is deleted while it wakes, at %s, is gone, and nobody is held any more",
    async (place) => {
      const resource = await kind.make(pilvi);
      await putToSleep(pilvi, resource);
      failpoints.arm(place);
      // A client before the delete may be let in or not.
      const held = expectKept(resource).catch(() => undefined);
      await failpoints.reached();
      expect((await pilvi.api("DELETE", pathOf(resource))).status).toBe(204);
      failpoints.release();
      await held;
      await expectDeleted(resource);
    },
  );
});

describe.each(sleepyKinds().slice(0, 2))("$name", (kind) => {
  test("is woken by a new database in it, although it is about to fall asleep", async () => {
    const cluster = await kind.make(pilvi);
    if (cluster.type !== "databases") throw new Error("not a cluster");
    failpoints.arm("host.suspend.detached");
    const asked = suspend(pilvi, cluster);
    await failpoints.reached();
    const creating = createDatabase(pilvi, cluster.id, "reports");
    failpoints.release();
    await asked;
    await creating;
    expect(await databaseNames(cluster)).toEqual(["main", "reports"]);
    await putToSleep(pilvi, cluster);
    await createDatabase(pilvi, cluster.id, "more");
    await until(
      "the wake shows its cause",
      async () => (await read(pilvi, cluster)).meta.sleep.last_wake !== null,
    );
    expect((await read(pilvi, cluster)).meta.sleep.last_wake?.reason.user).toBe("pilvi");
    expect(await databaseNames(cluster)).toEqual(["main", "more", "reports"]);
  });
});
