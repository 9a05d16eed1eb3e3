// The content of a cache over its sleep: values of all types, times to live that go on, and a cache that cannot save,
// which stays awake.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import { startPilvi, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { fill as fillDisk, mountSmallDisk } from "../../support/pilvi/small-disk.ts";

interface Document {
  data: CacheResource;
  message?: string;
}

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(async () => {
  await pilvi.close();
});

function clientOf({ attributes }: CacheResource): Redis {
  const { hostname: host, port, username = "", password = "" } = attributes.connection;
  return new Redis({ host, port, username, password, retryStrategy: null as never });
}

async function suspend({ id }: CacheResource): Promise<{ status: number; message?: string }> {
  const { status, body } = await pilvi.api<Document>("POST", `/caches/${id}/suspend`);
  return { status, ...(body.message === undefined ? {} : { message: body.message }) };
}

/** One key of each type. */
async function fill(client: Redis): Promise<void> {
  await client.set("string", "moi");
  await client.set("binary", Buffer.from([0, 255, 13, 10, 0]));
  await client.incrby("counter", 9_007_199_254_740);
  await client.rpush("list", "a", "b", "c");
  await client.sadd("set", "a", "b");
  await client.hset("hash", { a: "1", b: "2" });
  await client.zadd("scores", 1.5, "a", 2, "b");
  await client.xadd("stream", "1-1", "field", "value");
  await client.xgroup("CREATE", "stream", "group", "0");
  await client.pfadd("loglog", "a", "b", "c");
  await client.setbit("bits", 1_000, 1);
  await client.geoadd("places", 24.94, 60.17, "Helsinki");
  await client.set("big", "x".repeat(1_000_000));
  await client.select(3);
  await client.set("elsewhere", "yes");
  await client.select(0);
}

/** All keys with their values, in the engine's own serialization, which has no times to live. */
async function dump(client: Redis): Promise<Record<string, string>> {
  const keys = (await client.keys("*")).sort();
  const held: Record<string, string> = {};
  for (const key of keys) held[key] = (await client.dumpBuffer(key))?.toString("hex") ?? "";
  return held;
}

describe.each(["allkeys-lru", "noeviction", "volatile-ttl"])("a cache with %s", (policy) => {
  test.concurrent("has its data after its sleep, and each key expires in time", async () => {
    const cache = await pilvi.createCache({ uses_hibernation: true, eviction_policy: policy });
    const client = clientOf(cache);
    await fill(client);
    const before = await dump(client);
    await client.set("ends later", "1", "EX", 3_600);
    await client.set("ends asleep", "1", "PX", 20_000);
    const endsAsleepAt = Number(await client.call("PEXPIRETIME", "ends asleep"));
    const endsAt = await client.call("PEXPIRETIME", "ends later");
    client.disconnect();
    expect(await suspend(cache)).toEqual({ status: 200 });
    expect(pilvi.enginePids(cache.id)).toEqual([]);
    // The cache fell asleep before the key expired, or the test would show nothing.
    expect(Date.now()).toBeLessThan(endsAsleepAt);
    await until("the key's time is over", () => Date.now() > endsAsleepAt);

    const later = clientOf(cache);
    expect(await later.get("ends asleep")).toBeNull();
    expect(await later.call("PEXPIRETIME", "ends later")).toBe(endsAt);
    await later.del("ends later");
    expect(await dump(later)).toEqual(before);
    expect(await later.xinfo("GROUPS", "stream")).toHaveLength(1);
    await later.select(3);
    expect(await later.get("elsewhere")).toBe("yes");
    expect(await later.dbsize()).toBe(1);
    later.disconnect();
    await pilvi.deleteCache(cache.id);
  });
});

test("a cache that cannot save stays awake with its data, reports it, and sleeps when it can save", async () => {
  const cache = await pilvi.createCache({ uses_hibernation: true, eviction_policy: "allkeys-lru" });
  const data = join(pilvi.dataDir, "instances", cache.id, "data");
  const mode = statSync(data).mode;
  const client = clientOf(cache);
  await client.set("kept", "yes");
  const pids = pilvi.enginePids(cache.id);
  chmodSync(data, 0o500);
  const { status, message } = await suspend(cache);
  expect({ status, message }).toMatchObject({ status: 409, message: expect.stringContaining("saved") });
  expect(pilvi.enginePids(cache.id)).toEqual(pids);
  // Connected clients noticed nothing.
  expect(await client.get("kept")).toBe("yes");
  const shown = await pilvi.untilStatus(cache.id, "available");
  expect(shown.meta.sleep.state).toBe("awake");
  await until("the report arrives", async () => {
    const { meta } = await pilvi.untilStatus(cache.id, "available");
    return meta.last_error?.includes("could not be saved") === true;
  });

  chmodSync(data, mode);
  expect(await suspend(cache)).toEqual({ status: 200 });
  expect(await client.get("kept")).toBe("yes");
  expect((await pilvi.untilStatus(cache.id, "available")).meta.last_error).toBeNull();
  client.disconnect();
});

// Only root may mount.
test.skipIf(process.getuid?.() !== 0)(
  "a cache on a full disk keeps what was acknowledged, and notifies its owner",
  async () => {
    const cache = await pilvi.createCache({ uses_hibernation: true, eviction_policy: "noeviction" });
    expect(await suspend(cache)).toMatchObject({ status: 200 });
    const folder = join(pilvi.dataDir, "instances", cache.id, "data", "appendonlydir");
    const unmount = mountSmallDisk(folder);
    try {
      const client = clientOf(cache);
      await client.set("before", "yes");
      const filler = fillDisk(folder);
      const pids = pilvi.enginePids(cache.id);
      // The last block can still take some bytes.
      expect(await client.set("acknowledged", "x".repeat(10_000))).toBe("OK");
      const message = "The cache cannot write its keys to the disk.";
      expect(await suspend(cache)).toEqual({ status: 409, message: expect.stringContaining(message) });
      expect(pilvi.enginePids(cache.id)).toEqual(pids);
      await until("the owner sees the reason", async () => {
        return (await pilvi.untilStatus(cache.id, "available")).meta.last_error === message;
      });

      rmSync(filler);
      await until("it sleeps", async () => (await suspend(cache)).status === 200);
      expect(await client.strlen("acknowledged")).toBe(10_000);
      expect((await pilvi.untilStatus(cache.id, "available")).meta.last_error).toBeNull();
      client.disconnect();
    } finally {
      unmount();
    }
  },
);
