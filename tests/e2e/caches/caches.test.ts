// A cache from its creation to its end, with official clients and real engines.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { createClient } from "redis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import {
  cacheBody,
  type CacheDocument,
  startPilvi,
  type TestPilvi,
  until,
} from "../../support/pilvi/pilvi.ts";
import { killIfThere } from "../../support/pilvi/processes.ts";

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startPilvi();
});

afterAll(async () => {
  await pilvi.close();
});

function connect({ attributes }: CacheResource, overrides: Record<string, unknown> = {}): Redis {
  const { hostname, port, username, password } = attributes.connection;
  return new Redis({
    host: hostname,
    port,
    username: username ?? "",
    password: password ?? "",
    lazyConnect: true,
    retryStrategy: null as never,
    ...overrides,
  });
}

describe("a new cache", () => {
  test("answers official clients with the credentials of the 201", async () => {
    const created = await pilvi.api<CacheDocument>("POST", "/caches", cacheBody());
    expect(created.status).toBe(201);
    const { hostname, port, username, password } = created.body.data.attributes.connection;
    await pilvi.untilStatus(created.body.data.id, "available");
    const ioredis = connect(created.body.data);
    await ioredis.set("greeting", "moi");
    const client = createClient({ url: `redis://${username}:${password}@${hostname}:${port}` });
    await client.connect();
    expect(await client.get("greeting")).toBe("moi");
    client.destroy();
    ioredis.disconnect();
  });

  test("accepts the password without a user name, and no wrong password", async () => {
    const cache = await pilvi.createCache();
    const nameless = connect(cache, { username: undefined });
    expect(await nameless.ping()).toBe("PONG");
    nameless.disconnect();
    for (const wrong of [
      { password: "wrong" },
      { username: "nobody" },
      { username: undefined, password: undefined },
    ]) {
      const intruder = connect(cache, { ...wrong, enableReadyCheck: false });
      await expect(intruder.get("greeting")).rejects.toThrow();
      await intruder.get("greeting").catch(() => {});
      intruder.disconnect();
    }
  });

  test("has the ordered size and eviction policy", async () => {
    const cache = await pilvi.createCache({ size: "valkey-pro.1gb", eviction_policy: "volatile-ttl" });
    const client = connect(cache);
    const info = await client.info("memory");
    expect(info).toContain(`maxmemory:${1024 ** 3}\r\n`);
    expect(info).toContain("maxmemory_policy:volatile-ttl\r\n");
    expect(cache.meta.limits).toMatchObject({ memory_bytes: 1024 ** 3 });
    client.disconnect();
  });

  test.each([
    ["platform_valkey", "valkey-flex-250mb", "valkey"],
    ["provider_managed_valkey", "managed.cache.t4g.micro", "valkey"],
    ["hosted_redis", "250mb", "redis"],
    ["provider_managed_redis", "managed.cache.t4g.small", "redis"],
  ])("of type %s is served by the engine that meta names", async (type, size, engine) => {
    const cache = await pilvi.createCache({ type, size });
    expect(cache.meta.engine?.name).toBe(engine);
    const client = connect(cache);
    const server = await client.info("server");
    expect(server).toContain(`${engine}_version:${cache.meta.engine?.version}`);
    client.disconnect();
  });

  test("larger than the machine is created, and reports the limit in force", async () => {
    const cache = await pilvi.createCache({ type: "hosted_redis", size: "500gb" });
    const client = connect(cache);
    const info = await client.info("memory");
    expect(cache.meta.limits?.memory_bytes).toBeLessThan(500 * 1024 ** 3);
    expect(info).toContain(`maxmemory:${cache.meta.limits?.memory_bytes}\r\n`);
    client.disconnect();
  });
});

test("a customer cannot run commands that leave the cache or stop it", async () => {
  const client = connect(await pilvi.createCache());
  const forbidden = [
    ["CONFIG", "GET", "*"],
    ["CONFIG", "SET", "dir", "/tmp"],
    ["ACL", "LIST"],
    ["ACL", "SETUSER", "mallory", "on"],
    ["DEBUG", "SLEEP", "0"],
    ["SHUTDOWN", "NOSAVE"],
    ["MODULE", "LOAD", "/tmp/x.so"],
    ["REPLICAOF", "127.0.0.1", "1"],
    ["SLAVEOF", "127.0.0.1", "1"],
    ["MIGRATE", "127.0.0.1", "1", "k", "0", "1"],
    ["SAVE"],
    ["BGSAVE"],
    ["BGREWRITEAOF"],
    ["MONITOR"],
    ["SYNC"],
    ["CLIENT", "KILL", "TYPE", "normal"],
    ["CLUSTER", "MEET", "127.0.0.1", "1"],
    ["FAILOVER"],
    ["EVAL", "return redis.call('CONFIG','GET','*')", "0"],
  ] as const;
  for (const [command, ...args] of forbidden) {
    const attempt = client.call(command, ...args);
    await expect(attempt, [command, ...args].join(" ")).rejects.toThrow(/NOPERM|ACL|not allowed/);
    await attempt.catch(() => {});
  }
  for (const [command, ...args] of [
    ["INFO"],
    ["KEYS", "*"],
    ["FLUSHDB"],
    ["FLUSHALL"],
    ["EVAL", "return 1", "0"],
  ] as const) {
    await client.call(command, ...args);
  }
  client.disconnect();
});

describe("data is kept", () => {
  test.each(["allkeys-lru", "noeviction", "volatile-lru"])(
    "over a restart of Pilvi, with %s",
    async (policy) => {
      const cache = await pilvi.createCache({ eviction_policy: policy });
      const before = connect(cache);
      await before.set("kept", policy);
      await before.set("passing", "x", "EX", 1_000);
      before.disconnect();
      expect(await pilvi.stop()).toBe(0);
      await pilvi.start();
      const after = connect(await pilvi.untilStatus(cache.id, "available"));
      expect(await after.get("kept")).toBe(policy);
      expect(await after.ttl("passing")).toBeGreaterThan(900);
      after.disconnect();
    },
  );

  test("over a kill of the engine, when the policy says that no key may be lost", async () => {
    const cache = await pilvi.createCache({ eviction_policy: "noeviction" });
    const before = connect(cache);
    await before.set("kept", "yes");
    // The append-only file is synced every second; until then the kernel has the writes, which a killed process cannot
    // undo.
    for (const pid of pilvi.enginePids(cache.id)) killIfThere(pid);
    before.disconnect();
    await until("the engine is back", async () => {
      const client = connect(cache);
      const kept = await client.get("kept").catch(() => null);
      client.disconnect();
      return kept === "yes";
    });
    await pilvi.untilStatus(cache.id, "available");
  });
});

test("a cache whose port is taken while Pilvi is away is not available until the port is free", async () => {
  const cache = await pilvi.createCache();
  const { port } = cache.attributes.connection;
  await pilvi.stop();
  const squatter = Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } });
  await pilvi.start();
  await until("the status is taken back", async () => {
    const { body } = await pilvi.api<CacheDocument>("GET", `/caches/${cache.id}`);
    return body.data.attributes.status === "updating";
  });
  await until("the owner sees the reason", async () => {
    const { body } = await pilvi.api<CacheDocument>("GET", `/caches/${cache.id}`);
    return body.data.meta.last_error === `Port ${port} is in use by another program on this machine.`;
  });
  squatter.stop(true);
  await pilvi.untilStatus(cache.id, "available");
});

test("a deleted cache leaves no process, file or open port", async () => {
  const cache = await pilvi.createCache();
  const pids = pilvi.enginePids(cache.id);
  expect(pids).not.toBeEmpty();
  await pilvi.deleteCache(cache.id);
  expect(pilvi.enginePids(cache.id)).toBeEmpty();
  expect(existsSync(join(pilvi.dataDir, "instances", cache.id))).toBe(false);
  Bun.listen({ hostname: "127.0.0.1", port: cache.attributes.connection.port, socket: { data() {} } }).stop(
    true,
  );
});
