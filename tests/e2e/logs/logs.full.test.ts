// Logs of real engines: read, searched and followed over restarts of engine and host, while nothing is woken.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import type { CacheResource, DatabaseClusterResource, LogEntry } from "../../../src/sdk/index.ts";
import { PilviClient, PilviError } from "../../../src/sdk/index.ts";
import { connectMysql, connectPg, createCluster, MYSQL } from "../../support/pilvi/databases.ts";
import { startPilvi, TOKEN, until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { Sleeper } from "../../support/pilvi/sleepers.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

const START_MS = 240_000;

let pilvi: TestPilvi;
let client: PilviClient;
let cluster: DatabaseClusterResource;
let cache: CacheResource;

beforeAll(async () => {
  pilvi = await startPilvi();
  client = new PilviClient({ url: pilvi.url, token: TOKEN });
  [cluster, cache] = await Promise.all([
    createCluster(pilvi, { config: { suspend_seconds: 600 } }),
    pilvi.createCache({ uses_hibernation: true }),
  ]);
}, START_MS);

afterAll(() => pilvi.close());

/** Has the cluster write a line into its log. */
async function write(text: string, of = cluster): Promise<void> {
  const session = await connectPg(of);
  await session.query(`do $$ begin raise log '%', '${text}'; end $$`);
  await session.end();
}

const messagesIn = (entries: LogEntry[]) =>
  entries.map(({ message }) => message.replace(/^\[\d+\] LOG: {2}/, ""));

test("each kind's log is read, with its times, levels and starts", async () => {
  const { server } = await createServer(pilvi);
  const mysql = await createCluster(pilvi, { type: MYSQL });
  const logs = await Promise.all([
    client.databases.logs(cluster.id),
    client.databases.logs(mysql.id),
    client.caches.logs(cache.id),
    client.websockets.logs(server.id),
  ]);
  for (const { data, meta } of logs) {
    expect(meta.is_complete).toBe(true);
    expect(data[0]).toMatchObject({ type: "system", level: "info" });
    expect(data[0]?.message).toMatch(/^\w+ [\d.]+.* starts$/);
    expect(data.some(({ type, message }) => type === "engine" && /ready/i.test(message))).toBe(true);
    expect(
      data.every(({ logged_at: at }) => at !== null && Math.abs(Date.parse(at) - Date.now()) < 600_000),
    ).toBe(true);
  }
});

test("a log is searched by text and time, and paged by its cursor", async () => {
  const from = new Date().toISOString();
  for (const text of ["one needle", "two", "three NEEDLE"]) await write(text);
  await until(
    "all is written",
    async () => (await client.databases.logs(cluster.id, { query: "needle" })).data.length === 2,
  );
  const found = await client.databases.logs(cluster.id, { query: "needle" });
  expect(messagesIn(found.data)).toEqual(["one needle", "three NEEDLE"]);
  const first = await client.databases.logs(cluster.id, { from, query: "needle", perPage: 1 });
  expect([messagesIn(first.data), first.meta.is_complete]).toEqual([["one needle"], false]);
  const rest = await client.databases.logs(cluster.id, { query: "needle", cursor: first.meta.cursor });
  expect(messagesIn(rest.data)).toEqual(["three NEEDLE"]);
  expect((await client.databases.logs(cluster.id, { to: "2020-01-01T00:00:00Z" })).data).toEqual([]);
});

test("a follower gets each line once, over a restart of the engine and kills of host and control plane", async () => {
  const ending = new AbortController();
  const got: string[] = [];
  const { meta } = await client.databases.logs(cluster.id, { tail: 0 });
  const following = (async () => {
    const lines = client.databases.followLogs(cluster.id, {
      query: "tick",
      cursor: meta.cursor,
      signal: ending.signal,
    });
    for await (const entry of lines) got.push(...messagesIn([entry]));
  })();
  const wanted: string[] = [];
  const tick = async () => {
    wanted.push(`tick ${wanted.length}.`);
    await write(wanted.at(-1) ?? "");
  };
  await tick();
  await until("it follows", () => got.length === 1);
  pilvi.kill("host");
  await tick();
  await until("a new host serves it", () => got.length === 2);
  await new Sleeper(pilvi, cluster).sleep();
  await tick();
  pilvi.kill("control");
  await tick();
  await until("it has all", () => got.length === wanted.length);
  expect(got).toEqual(wanted);
  ending.abort();
  await following;
});

test("reading and following wake nothing, and work while it sleeps", async () => {
  const sleeper = new Sleeper(pilvi, cache);
  await sleeper.sleep();
  await sleeper.sleepsThrough(async () => {
    const { data, meta } = await client.caches.logs(cache.id);
    expect(data.length).toBeGreaterThan(0);
    const ending = new AbortController();
    const lines = client.caches.followLogs(cache.id, { tail: 1, signal: ending.signal });
    expect((await lines.next()).value).toEqual(data.at(-1));
    ending.abort();
    await lines.return();
    expect((await client.caches.logs(cache.id, { cursor: meta.cursor })).data).toEqual([]);
  });
});

test("a customer who floods its log has the end of it, and takes a bounded part of the disk", async () => {
  const path = join(pilvi.dataDir, "instances", cluster.id, "engine.log");
  const session = await connectPg(cluster);
  await session.query(
    "do $$ begin for i in 1..60 loop raise log '%', repeat('flood ', 200000); end loop; raise log 'the end'; end $$",
  );
  await until("its beginning is freed", () => statSync(path).blocks * 512 < 24 * 1024 ** 2);
  expect(statSync(path).size).toBeGreaterThan(60_000_000);
  const { data } = await client.databases.logs(cluster.id, { tail: 9, query: "the end" });
  expect(messagesIn(data)).toEqual(["the end"]);
  await session.end();
});

test("passwords of Pilvi's own statements are in no log", async () => {
  const { data } = await client.databases.rotateCredentials(cluster.id);
  await until(
    "it is in force",
    async () => (await client.databases.get(cluster.id)).data.attributes.status === "available",
  );
  const { password = "" } = data.attributes.connection;
  for (const query of [password, "SCRAM-SHA-256", "alter role"])
    expect((await client.databases.logs(cluster.id, { query, perPage: 1000 })).data).toEqual([]);
});

test("only who may see credentials may read a log, and nobody that of another organization", async () => {
  const tokenOf = async (abilities: string) => {
    const { stdout } = await pilvi.run("token", "create", "--name", abilities, "--abilities", abilities);
    return (
      stdout
        .trim()
        .split(/\s+/)
        .find((word) => word.startsWith("pilvi_")) ?? ""
    );
  };
  const viewer = new PilviClient({ url: pilvi.url, token: await tokenOf("databases:read") });
  const refusal = await viewer.databases.logs(cluster.id).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(PilviError);
  expect(refusal).toMatchObject({ status: 403, message: expect.stringContaining("databases:credentials") });
  const reader = new PilviClient({ url: pilvi.url, token: await tokenOf("databases:credentials") });
  expect((await reader.databases.logs(cluster.id, { tail: 1 })).data).toHaveLength(1);
});

test("the command prints and follows a log of any kind", async () => {
  const { code, stdout } = await pilvi.run(
    "logs",
    cluster.id,
    "--tail",
    "1000",
    "--grep",
    "THE END",
    "--json",
  );
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { type: "engine", level: "info" }]);
  expect((await pilvi.run("logs", cache.id, "--since", "1h")).stdout).toMatch(/ starts\n/);
  expect((await pilvi.run("logs", "nothing-of-this-name")).code).toBe(1);
});

test("a MySQL's failed statement is not in its log", async () => {
  const mysql = await createCluster(pilvi, { type: MYSQL, name: "quoting" });
  const session = await connectMysql(mysql);
  await session.query("alter user nobody identified by 'hunter2'").catch(() => undefined);
  await session.end();
  expect((await client.databases.logs(mysql.id, { query: "hunter2" })).data).toEqual([]);
});
