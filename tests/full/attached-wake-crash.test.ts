// Kills of the host while an application and what is attached to it wake together: the request is answered, and each wake
// is recorded once.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { Driver } from "../../src/drivers/driver.ts";
import { localDriver } from "../../src/drivers/local/index.ts";
import { hostSocket } from "../../src/host/os/layout.ts";
import { createLog } from "../../src/lib/log.ts";
import type { CacheResource, DatabaseClusterResource, EventResource } from "../../src/sdk/index.ts";
import { putToSleep, untilSettled } from "../crash/sleepers.ts";
import { type Files, TestApplication } from "../support/pilvi/applications.ts";
import { createCluster, createDatabase } from "../support/pilvi/databases.ts";
import { Failpoints, startPilvi, type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { shareOf } from "../crash/share.ts";

/** A program that uses all that it is attached to. */
const FILES: Files = {
  "bunfig.toml": "# This program runs on Bun.\n",
  "package.json": JSON.stringify({ name: "shop", private: true, scripts: { start: "bun server.ts" } }),
  "server.ts": `
    const { DATABASE_URL, REDIS_URL, PORT } = process.env;
    async function use() {
      if (DATABASE_URL === undefined || REDIS_URL === undefined) return "alone";
      const sql = new Bun.SQL(DATABASE_URL, { max: 1 });
      const redis = new Bun.RedisClient(REDIS_URL);
      await Promise.all([sql\`select 1\`, redis.set("key", "value")]);
      redis.close();
      await sql.close();
      return "attached";
    }
    Bun.serve({ port: Number(PORT), hostname: "127.0.0.1", idleTimeout: 0, fetch: async () => new Response(await use()) });
  `,
};

const failpoints = new Failpoints();
let pilvi: TestPilvi;
let application: TestApplication;
let driver: Driver;
let instance = "";
let attached: [DatabaseClusterResource, CacheResource];

beforeAll(async () => {
  pilvi = await startPilvi({ env: failpoints.env });
  application = await TestApplication.create(pilvi);
  driver = localDriver(hostSocket(pilvi.dataDir), { log: createLog("test", "error") });
  await application.deploy(FILES);
  attached = await Promise.all([
    createCluster(pilvi),
    pilvi.createCache({ uses_hibernation: true, hibernation_timeout: 60 }),
  ]);
  const attachments = {
    database_schema_id: await createDatabase(pilvi, attached[0].id, "shop"),
    cache_id: attached[1].id,
  };
  const { status } = await pilvi.api("PATCH", `/environments/${application.environmentId}`, attachments);
  expect(status).toBe(200);
  await until("the process has its attachments", async () => (await application.text()) === "attached");
  const route = (await driver.routes()).find(({ id }) => id === application.environmentId);
  instance = route?.instances[0] ?? "";
}, 120_000);

afterEach(() => failpoints.release());

afterAll(async () => {
  failpoints.release();
  await pilvi.close();
  failpoints.close();
});

async function eventsOf(id: string): Promise<string[]> {
  const path = `/events?filter[resource]=${id}&filter[type]=asleep,awake`;
  const { body } = await pilvi.api<{ data: EventResource[] }>("GET", path);
  return body.data.map(({ attributes }) => attributes.type).toReversed();
}

/** The events of an instance that sleeps after some wakes: each sleep but the last has its wake. */
function inTurns(wakes: number): string[] {
  return [...Array.from({ length: wakes }, () => ["asleep", "awake"]).flat(), "asleep"];
}

test.each(
  shareOf(
    ["host.start.noted", "host.start.due", "host.start.spawned", "host.ensure.ready"].flatMap((step) =>
      ([["host"], ["host", "gateway"], ["control", "host"]] as const).map(
        (victims) => [step, victims] as const,
      ),
    ),
  ),
)(
  "at %s, a kill of %p",
  async (step, victims) => {
    for (const resource of attached) await putToSleep(pilvi, resource);
    await driver.suspend(instance);
    failpoints.arm(step);
    const answer = application.text();
    await failpoints.reached();
    pilvi.kill(...victims);
    failpoints.release();
    expect(await answer).toBe("attached");
    await pilvi.untilReady();
    for (const resource of attached) {
      await untilSettled(pilvi, resource);
      await putToSleep(pilvi, resource);
      const wakes = (await driver.observe(resource.id)).sleep?.wakes ?? 0;
      let types: string[] = [];
      const areThere = async () => (types = await eventsOf(resource.id)).length > 2 * wakes;
      await until("its events are there", areThere).catch(() => undefined);
      expect([resource.id, types]).toEqual([resource.id, inTurns(wakes)]);
    }
  },
  180_000,
);
