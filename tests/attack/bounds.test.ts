// Customers with more or larger objects in their instance than the host reads: others wake as fast as ever, and Pilvi
// starts again.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { SQL } from "bun";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADMIN_NAME } from "../../src/engines/postgres/config.ts";
import { socketAddress } from "../../src/lib/unix-socket.ts";
import type { CacheResource } from "../../src/resources/caches/schema.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  MYSQL,
  POSTGRES,
  POSTGRES_MAJORS,
  startDatabases,
  type ClusterDocument,
} from "../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { RawRedis } from "../support/wire/redis-raw.ts";
import { Sleeper } from "../support/pilvi/sleepers.ts";

const ROUNDS = 3;
/** The time that a wake may take on a busy machine. */
const FLOOR_MS = 2_000;
const LEFT_OUT = /users? (is|are) left out and cannot log in/;
/** A published user is never left out: its password is set again. */
const SET_AGAIN = /was changed by SQL/;
/** Control characters that a terminal would obey. */
const CONTROL = /[^\P{Cc}\n]/u;

interface Attack {
  name: string;
  versions: string;
  /** Whether the statement counts as an attack only if the engine accepts it. */
  isTaken: boolean;
  sql: string;
}

const attacks: Attack[] = readFileSync(join(import.meta.dir, "data/bounds.sql"), "utf8")
  .split(/^--! /m)
  .slice(1)
  .map((part) => {
    const [head = "", ...lines] = part.split("\n");
    const at = head.lastIndexOf(":");
    const [versions = "", isTaken] = head
      .slice(at + 1)
      .trim()
      .split(" ");
    return { name: head.slice(0, at), versions, isTaken: isTaken === "taken", sql: lines.join("\n") };
  });

let pilvi: TestPilvi;
let victim: DatabaseClusterResource;
let usualMs: number;

beforeAll(async () => {
  pilvi = await startDatabases();
  victim = await createCluster(pilvi, { name: "victim" });
  usualMs = await medianWakeMs();
});
afterAll(async () => await pilvi.close());

async function medianWakeMs(): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await new Sleeper(pilvi, victim).sleep();
    const startMs = performance.now();
    await (await connectPg(victim)).end();
    times.push(performance.now() - startMs);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? Infinity;
}

async function expectVictimUnharmed(): Promise<void> {
  expect(await medianWakeMs()).toBeLessThan(Math.max(2 * usualMs, FLOOR_MS));
}

/** A login of an unknown user makes the host ask the engine for its users. */
async function askForUsers(cluster: DatabaseClusterResource): Promise<void> {
  await expect(connectPg(cluster, { user: "nobody-knows" })).rejects.toThrow(
    "password authentication failed",
  );
}

async function read(cluster: DatabaseClusterResource): Promise<DatabaseClusterResource> {
  return (await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${cluster.id}`)).body.data;
}

async function untilReported(cluster: DatabaseClusterResource, reported = LEFT_OUT): Promise<void> {
  await until("the owner sees the reason", async () =>
    reported.test((await read(cluster)).meta.last_error ?? ""),
  );
  expect((await read(cluster)).attributes.status).toBe("available");
}

/** Logs in as the customer, without any startup setting. */
async function wake(cluster: DatabaseClusterResource): Promise<void> {
  await (await connectPg(cluster, { options: "-c search_path=public" })).end();
}

function isFor({ versions }: Attack, major: number): boolean {
  const [first = 0, last = 0] = versions.split("-").map(Number);
  return versions === "all" || (first <= major && major <= last);
}

/** The largest memory that the host or the gateway has had, in MB. */
function largestMegabytes(): number {
  const pids = (["host", "gateway"] as const).map((name) => pilvi.pidOf(name));
  const sizes = pids.map((pid) => /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  return Math.max(...sizes.map(Number)) / 1024;
}

for (const major of POSTGRES_MAJORS) {
  test(`statements of a customer of Postgres ${major} harm no other customer`, async () => {
    const cluster = await createCluster(pilvi, {
      name: `hostile-${major}`,
      type: POSTGRES,
      // With less computing power, creating the large objects would take most of the time.
      config: { cu_min: 2, cu_max: 2, suspend_seconds: 3_600 },
      version: String(major),
    });
    for (const attack of attacks.filter((each) => isFor(each, major))) {
      const app = await connectPg(cluster, { options: "-c search_path=public" });
      // A statement that the engine refuses is mostly no attack; the effects of accepted statements are checked.
      await app.query(attack.sql).catch((error: unknown) => {
        expect(attack.isTaken, `${attack.name}: ${String(error)}`).toBe(false);
      });
      await app.end().catch(() => undefined);
      await askForUsers(cluster);
    }
    const reported = major < 16 ? SET_AGAIN : LEFT_OUT;
    await untilReported(cluster, reported);
    const sleeper = new Sleeper(pilvi, cluster);
    // So many new rows are vacuumed at some time.
    await until("it sleeps", async () => (await sleeper.suspend()).status === 200);
    await untilReported(cluster, reported);
    await expectVictimUnharmed();
    expect(largestMegabytes()).toBeLessThan(600);
    await pilvi.api("DELETE", `/databases/clusters/${cluster.id}`);
  });
}

test("a hundred thousand roles harm no other customer, and their cluster starts again", async () => {
  const cluster = await createCluster(pilvi, { name: "crowded" });
  // It takes a customer ten minutes, so the administrator does it.
  const admin = new SQL({
    adapter: "postgres",
    path: socketAddress(join(pilvi.dataDir, "instances", cluster.id, "run", ".s.PGSQL." + portOf(cluster))),
    username: ADMIN_NAME,
    password: "",
    database: "postgres",
    max: 1,
  });
  const [app] = await admin<{ oid: number }[]>`select oid::int from pg_authid where rolname = 'app'`;
  expect(app?.oid).toBeGreaterThan(0);
  await admin.unsafe(`insert into pg_authid (oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb,
      rolcanlogin, rolreplication, rolbypassrls, rolconnlimit, rolpassword)
    select (1000000 + n)::oid, 'role-' || n, false, true, false, false, true, false, false, -1,
      (select rolpassword from pg_authid where rolname = 'app')
    from generate_series(1, 100000) n`);
  // Its owner has shut it out, so nothing is missing.
  await admin.unsafe("create role batch login connection limit 0 password 'secret'");
  await admin.close();
  await askForUsers(cluster);
  await untilReported(cluster);
  expect((await read(cluster)).meta.last_error).toStartWith("98001 users are left out");
  await new Sleeper(pilvi, cluster).sleep();
  await expectVictimUnharmed();
  await wake(cluster);
  expect(largestMegabytes()).toBeLessThan(600);
});

function portOf({ attributes }: DatabaseClusterResource): string {
  return String(attributes.connection.port);
}

test("the locks and prepared transactions of a customer of MySQL are reported in clean and short words", async () => {
  const cluster = await createCluster(pilvi, { name: "hostile-mysql", type: MYSQL });
  const app = await connectMysql(cluster);
  await app.query("create table `\u001b[2J` (n int)");
  await app.query("lock tables `\u001b[2J` write");
  const locked = await new Sleeper(pilvi, cluster).suspend();
  expect(locked.status).toBe(409);
  expect(JSON.stringify(locked.body).length).toBeLessThan(2_000);
  expect((locked.body as unknown as { message: string }).message).not.toMatch(CONTROL);
  await app.query("unlock tables");
  await app.end();
  for (let n = 0; n < 150; n++) {
    const session = await connectMysql(cluster);
    await session.query(`xa start 'x${n}'`);
    await session.query("insert into `\u001b[2J` values (1)");
    await session.query(`xa end 'x${n}'`);
    await session.query(`xa prepare 'x${n}'`);
    await session.end();
  }
  const prepared = await new Sleeper(pilvi, cluster).suspend();
  expect(JSON.stringify(prepared.body)).toContain("150 prepared transactions wait for their end.");
  await expectVictimUnharmed();
});

test.each([
  { type: "platform_valkey", size: "valkey-flex-250mb" },
  { type: "hosted_redis", size: "250mb" },
])("names of clients of a cache of the type $type are bounded", async (attributes) => {
  const cache = await pilvi.createCache({ ...attributes, uses_hibernation: true });
  const clients = await Promise.all(Array.from({ length: 12 }, () => openCache(cache)));
  const name = "x".repeat(30_000_000);
  for (const client of clients)
    // A cache may disconnect clients that take more memory than it has for all clients.
    await client
      .ask(`*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$${name.length}\r\n${name}\r\n`, "+OK\r\n")
      .catch(() => "");
  const { body } = await new Sleeper(pilvi, cache).suspend();
  expect(JSON.stringify(body).length).toBeLessThan(5_000);
  const reported = await pilvi.api<{ data: CacheResource }>("GET", `/caches/${cache.id}`);
  expect(JSON.stringify(reported.body).length).toBeLessThan(5_000);
  await expectVictimUnharmed();
  expect(largestMegabytes()).toBeLessThan(600);
  for (const client of clients) client.close();
  await pilvi.deleteCache(cache.id);
});

async function openCache({ attributes: { connection } }: CacheResource): Promise<RawRedis> {
  const client = await RawRedis.open(connection.port ?? 0);
  await client.ask(`AUTH ${connection.username} ${connection.password}\r\nDBSIZE\r\n`, "+OK\r\n:0\r\n");
  return client;
}

test("Pilvi starts although an earlier release left a manifest of 220 MB", async () => {
  const cluster = await createCluster(pilvi, { name: "left-behind" });
  await new Sleeper(pilvi, cluster).sleep();
  await pilvi.stop();
  const path = join(pilvi.dataDir, "instances", cluster.id, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const { usersLeftOut: _, ...sleep } = manifest.sleep;
  const large = Array.from({ length: 14 }, (__, n) => ({
    name: `large${n}`,
    verifier: "x".repeat(15_700_000),
  }));
  const { lastWake, wakes, ...before } = sleep;
  const users = [...large, ...sleep.users];
  writeFileSync(path, JSON.stringify({ ...manifest, sleep: { ...before, users, lastWake, wakes } }));
  await pilvi.start();
  await pilvi.untilReady();
  await untilReported(cluster);
  await wake(cluster);
  await expectVictimUnharmed();
  expect(readFileSync(path).length).toBeLessThan(1024 ** 2);
});
