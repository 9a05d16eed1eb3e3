// Changes of running caches and clusters: the settings in force after, the data that stays, and the restarts they
// cause.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Redis } from "ioredis";
import type { CacheResource } from "../../../src/resources/caches/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  MYSQL,
  untilCluster,
} from "../../support/pilvi/databases.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { killIfThere } from "../../support/pilvi/processes.ts";

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startPilvi();
});
afterAll(async () => {
  await pilvi.close();
});

/** Runs a command on a connection of its own. */
async function command({ attributes }: CacheResource, name: string, ...args: string[]): Promise<unknown> {
  const { hostname: host, port, username = "", password = "" } = attributes.connection;
  const client = new Redis({ host, port, username, password, retryStrategy: null as never });
  try {
    return await client.call(name, ...args);
  } finally {
    client.disconnect();
  }
}

async function changeCache(id: string, change: object): Promise<CacheResource> {
  const { status, body } = await pilvi.api("PATCH", `/caches/${id}`, change);
  if (status !== 200) throw new Error(`no change: ${status} ${JSON.stringify(body)}`);
  return await pilvi.untilStatus(id, "available");
}

async function changeCluster(id: string, config: object) {
  const { status, body } = await pilvi.api("PATCH", `/databases/clusters/${id}`, { config });
  if (status !== 200) throw new Error(`no change: ${status} ${JSON.stringify(body)}`);
  return await untilCluster(pilvi, id, "available");
}

/** A line of `INFO`. */
async function info(cache: CacheResource, section: string, field: string): Promise<string | undefined> {
  const text = String(await command(cache, "INFO", section));
  return new RegExp(`^${field}:(.*?)\r?$`, "m").exec(text)?.[1];
}

describe("a cache", () => {
  test("keeps its keys, their times to live, and its address through other policies and sizes", async () => {
    const cache = await pilvi.createCache({ eviction_policy: "allkeys-lru" });
    await command(cache, "SET", "greeting", "moi");
    await command(cache, "SET", "short", "lived", "EX", "1000");
    const changes = [
      { eviction_policy: "noeviction" },
      { eviction_policy: "allkeys-lfu" },
      { eviction_policy: "volatile-ttl", size: "valkey-flex-1gb" },
    ];
    for (const change of changes) {
      const changed = await changeCache(cache.id, change);
      expect(changed.attributes).toMatchObject(change);
      expect(changed.attributes.connection).toEqual(cache.attributes.connection);
      expect(await info(cache, "memory", "maxmemory_policy")).toBe(change.eviction_policy);
      expect(await command(cache, "GET", "greeting")).toBe("moi");
      expect(Number(await command(cache, "TTL", "short"))).toBeWithin(900, 1001);
      await command(cache, "SET", "greeting", "moi");
    }
    expect(await info(cache, "memory", "maxmemory")).toBe(String(1024 ** 3));
  });

  test("that changes to keeping every key survives a crash with its earlier keys", async () => {
    const cache = await pilvi.createCache({ eviction_policy: "allkeys-random" });
    await command(cache, "SET", "earlier", "1");
    await changeCache(cache.id, { eviction_policy: "noeviction" });
    await command(cache, "SET", "later", "2");
    // The test waits for the write of every second.
    await command(cache, "WAITAOF", "1", "0", "5000");
    killIfThere(pilvi.enginePids(cache.id)[0]);
    let kept: unknown = null;
    await until("it answers again", async () => {
      kept = await command(cache, "MGET", "earlier", "later").catch(() => null);
      return kept !== null;
    });
    expect(kept).toEqual(["1", "2"]);
  });

  test("is not restarted for a new name or a new hibernation time", async () => {
    const cache = await pilvi.createCache({ uses_hibernation: true });
    const before = await info(cache, "server", "process_id");
    const changed = await changeCache(cache.id, { name: "carts", hibernation_timeout: 60 });
    expect(changed.attributes).toMatchObject({ name: "carts", hibernation_timeout: 60 });
    expect(await info(cache, "server", "process_id")).toBe(before);
  });
});

describe("a cluster", () => {
  test("of Postgres has more connections, with all its rows, when it has more computing power", async () => {
    const cluster = await createCluster(pilvi, { config: { cu_max: 0.25 } });
    const first = await connectPg(cluster);
    await first.query("create table kept as select 42 as answer");
    const before = Number(await firstOf(first, "show max_connections"));
    const changed = await changeCluster(cluster.id, { cu_max: 0.5 });
    expect(changed.attributes.config).toMatchObject({ cu_min: 0.25, cu_max: 0.5 });
    expect(changed.attributes.connection).toEqual(cluster.attributes.connection);
    const second = await connectPg(changed);
    expect(Number(await firstOf(second, "show max_connections"))).toBe(before + 105);
    expect(await firstOf(second, "select answer from kept")).toBe(42);
    await second.end();
    await first.end();
  });

  test("of Postgres keeps its sessions when only its sleep is changed", async () => {
    const cluster = await createCluster(pilvi);
    const session = await connectPg(cluster);
    const pid = await firstOf(session, "select pg_backend_pid()");
    await changeCluster(cluster.id, { suspend_seconds: 3_600 });
    expect(await firstOf(session, "select pg_backend_pid()")).toBe(pid);
    await session.end();
  });

  test("of MySQL has another buffer pool when it has another size", async () => {
    const cluster = await createCluster(pilvi, { type: MYSQL, config: { size: "mysql-flex-512mb" } });
    const poolBytes = async () => {
      const connection = await connectMysql(cluster);
      const value = await firstOfMysql(connection, "select @@innodb_buffer_pool_size");
      await connection.end();
      return Number(value);
    };
    const before = await poolBytes();
    await changeCluster(cluster.id, { size: "mysql-flex-1gb" });
    expect(await poolBytes()).toBeGreaterThan(before);
  });
});
