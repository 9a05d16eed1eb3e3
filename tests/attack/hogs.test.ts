// Hogs of each kind: an instance that takes too much memory, or too many processes, ends alone, and its owner reads
// why.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Connection } from "mysql2/promise";
import type { Client } from "pg";
import { findCgroups } from "../../src/host/os/cgroup-backends.ts";
import { CUSTOMER_OOM_SCORE, OWN_OOM_SCORE } from "../../src/lib/oom-score.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  MYSQL,
  POSTGRES,
  processesOf,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { childrenOf } from "../support/pilvi/processes.ts";
import { flood } from "../support/load/cache-flood.ts";
import { type TestPilvi, until } from "../support/pilvi/pilvi.ts";
import { cacheClient, groupFile, memoryOf, Victims } from "../support/load/victims.ts";
import hogs from "./data/hogs.json";

const IS_ROOT = process.getuid?.() === 0;
const MIB = 1024 ** 2;
const CAP_SYS_RESOURCE = 24n;
const PATIENCE_MS = 90_000;

let pilvi: TestPilvi;
let victims: Victims;

describe.skipIf(!IS_ROOT || findCgroups("/") === null)("a hog", () => {
  beforeAll(async () => {
    pilvi = await startDatabases({ PILVI_WARM_SLOTS: "0" });
    victims = await Victims.make(pilvi);
  }, PATIENCE_MS);
  afterAll(() => pilvi.close());

  beforeEach(() => victims.remember());

  describe.each(["platform_valkey", "hosted_redis"])("that is a cache of %s", (type) => {
    const size = type === "platform_valkey" ? "valkey-flex-250mb" : "250mb";
    let hog: CacheResource;
    beforeAll(async () => {
      hog = await pilvi.createCache({ name: "hog", type, size });
    }, PATIENCE_MS);
    afterAll(() => pilvi.deleteCache(hog.id));

    test.each(hogs.cacheCommands)("by $name", async ({ command: [name = "", ...args], ends }) => {
      const [pid] = pilvi.enginePids(hog.id);
      const client = await cacheClient(hog);
      await expect(client.call(name, args)).rejects.toThrow();
      client.disconnect();
      if (ends)
        await until("its engine is another", () => isAnother(pilvi.enginePids(hog.id), pid), PATIENCE_MS);
      else expect(pilvi.enginePids(hog.id)).toEqual(pid === undefined ? [] : [pid]);
      await untilCacheServes(hog);
      if (ends) await untilReported("caches", hog.id);
      await victims.expectUnharmed();
    });

    test.each(hogs.cacheFloods)("by $name", async ({ clients, beginning, repeated, bytes }) => {
      const admin = await cacheClient(hog);
      await admin.set("big", Buffer.alloc(8 * MIB));
      admin.disconnect();
      const pids = pilvi.enginePids(hog.id);
      const { port, password = "" } = hog.attributes.connection;
      const login = `AUTH app ${password}\r\n`;
      const options = { port, login, beginning, repeated, bytes };
      const ends = await Promise.all(Array.from({ length: clients }, () => flood(options)));
      await untilCacheServes(hog);
      expect(memoryOf(hog.id)).toBeLessThanOrEqual(hog.meta.limits?.total_memory_bytes ?? 0);
      for (const end of ends) end();
      // The engine disconnects the clients with most under way, and ends where they were faster.
      if (isAnother(pilvi.enginePids(hog.id), pids[0])) await untilReported("caches", hog.id);
      await victims.expectUnharmed();
    });
  });

  test.each(hogs.postgres)("that is a Postgres by $name", async ({ sessions, statements }) => {
    const hog = await createCluster(pilvi, { type: POSTGRES, name: "hog" });
    const [postmaster] = processesOf(pilvi, hog.id);
    const clients = await Promise.all(Array.from({ length: sessions }, () => connectPg(hog)));
    const run = async (client: Client) => {
      for (const statement of statements) await client.query(statement);
    };
    const ended = await Promise.allSettled(clients.map(run));
    expect(ended.some(({ status }) => status === "rejected")).toBe(true);
    await untilReported("databases/clusters", hog.id);
    await until("it serves", () => servesPg(hog), PATIENCE_MS);
    expect(processesOf(pilvi, hog.id)[0]).toBe(postmaster ?? 0);
    await victims.expectUnharmed();
    for (const client of clients) await client.end().catch(() => undefined);
    await pilvi.api("DELETE", `/databases/clusters/${hog.id}`);
  });

  test.each(hogs.mysql)("that is a MySQL by $name", async ({ sessions, statement, times }) => {
    const hog = await createCluster(pilvi, { type: MYSQL, name: "hog" });
    const connections = await Promise.all(Array.from({ length: sessions }, () => connectMysql(hog)));
    const run = async (connection: Connection) => {
      connection.on("error", () => undefined);
      for (let n = 0; n < times; n++) await connection.query(statement.replace("#", String(n)));
    };
    const ended = await Promise.allSettled(connections.map(run));
    expect(ended.some(({ status }) => status === "rejected")).toBe(true);
    await untilReported("databases/clusters", hog.id);
    await victims.expectUnharmed();
    await pilvi.api("DELETE", `/databases/clusters/${hog.id}`);
  });

  test("ends before Pilvi and the store when the machine itself has no memory left", () => {
    const own = [
      pilvi.pid,
      ...(["host", "gateway", "control"] as const).map((name) => pilvi.runningPid(name)),
    ];
    const [store = 0] = pilvi.enginePids("store");
    const expected = mayLowerScores() ? OWN_OOM_SCORE : scoreOf(process.pid);
    for (const pid of [...own, store, ...childrenOf(store)]) expect(scoreOf(pid)).toBe(expected);
    expect(expected).toBeLessThan(CUSTOMER_OOM_SCORE);
    const { cache, postgres, mysql, websockets } = victims;
    for (const { id } of [cache, mysql, websockets]) {
      expect(scoreOf(pilvi.enginePids(id)[0] ?? 0)).toBe(CUSTOMER_OOM_SCORE);
    }
    // A session ends, and never the process that all other sessions depend on.
    expect(scoreOf(processesOf(pilvi, postgres.id)[0] ?? 0)).toBe(0);
    expect(scoreOf(victims.sessionPid)).toBe(CUSTOMER_OOM_SCORE);
  });

  test("is limited in its number of processes", () => {
    const { cache, postgres, mysql, websockets } = victims;
    for (const { id, meta } of [cache, postgres, mysql, websockets.server]) {
      expect(Number(groupFile("pids", id, "pids.max"))).toBe(meta.limits?.max_processes ?? 0);
    }
  });
});

/** Root in a container may lack this right. */
function mayLowerScores(): boolean {
  const rights = /^CapEff:\s+(\w+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${rights}`) & (1n << CAP_SYS_RESOURCE)) !== 0n;
}

function scoreOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/oom_score_adj`, "utf8"));
}

function isAnother(pids: number[], former: number | undefined): boolean {
  return pids[0] !== undefined && pids[0] !== former;
}

async function untilCacheServes(cache: CacheResource): Promise<void> {
  await until(
    "the cache serves",
    async () => {
      try {
        const client = await cacheClient(cache);
        return (await client.ping().finally(() => client.disconnect())) === "PONG";
      } catch {
        return false;
      }
    },
    PATIENCE_MS,
  );
}

async function servesPg(cluster: DatabaseClusterResource): Promise<boolean> {
  try {
    const client = await connectPg(cluster);
    return (await firstOf(client, "select 1").finally(() => client.end())) === 1;
  } catch {
    return false;
  }
}

/** Waits until the owner reads the reason, and that the instance is available again. */
async function untilReported(kind: string, id: string): Promise<void> {
  interface Reported {
    data: { attributes: { status: string }; meta: { last_error: string | null } };
  }
  await until(
    "the owner sees the reason",
    async () => {
      const { body } = await pilvi.api<Reported>("GET", `/${kind}/${id}`);
      const { attributes, meta } = body.data;
      return attributes.status === "available" && (meta.last_error?.startsWith("Out of memory at ") ?? false);
    },
    PATIENCE_MS,
  );
}
