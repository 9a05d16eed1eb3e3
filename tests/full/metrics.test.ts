// Metrics through the whole of Pilvi: from a real engine to the API, over a kill of the host.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { CacheMetrics } from "../../src/resources/caches/schema.ts";
import { startPilvi, until, type TestPilvi } from "../support/pilvi/pilvi.ts";

/** A minute must end, and a busy machine needs some time to take it. */
const MINUTE_TIMEOUT_MS = 150_000;

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(() => pilvi.close());

test("hits of a cache are in its metrics a minute later, once, though the host was killed", async () => {
  const { id, attributes } = await pilvi.createCache();
  const { username, password, port } = attributes.connection;
  const client = new Bun.RedisClient(`redis://${username}:${password}@127.0.0.1:${port}`);
  const metrics = async () => (await pilvi.api<CacheMetrics>("GET", `/caches/${id}/metrics`)).body.data;
  await client.set("a", "1");
  for (let i = 0; i < 120; i += 1) await client.get("a");
  const hits = async () => {
    const { data } = (await metrics()).hits_and_misses;
    return Math.round(data.reduce((sum, { y: [perSecond = 0] }) => sum + perSecond * 60, 0));
  };
  await until("the hits are counted", async () => (await hits()) >= 120, MINUTE_TIMEOUT_MS);
  const before = await hits();
  expect(before).toBe(120);
  const { length } = (await metrics()).cpu_usage.data;
  pilvi.kill("host");
  await until(
    "minutes go on",
    async () => (await metrics()).cpu_usage.data.length > length,
    MINUTE_TIMEOUT_MS,
  );
  expect(await hits()).toBe(before);
  expect((await metrics()).keys.data.at(-1)?.y).toEqual([1]);
  client.close();
}, 400_000);
