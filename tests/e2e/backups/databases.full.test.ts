// Snapshots, restores and clones of database clusters, with real engines, host and keeper.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RowDataPacket } from "mysql2/promise";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  startDatabases,
  untilCluster,
  type ClusterDocument,
} from "../../support/pilvi/databases.ts";
import { openStore } from "../../crash/inspection.ts";
import { until, type Answer, type TestPilvi } from "../../support/pilvi/pilvi.ts";

interface SnapshotDocument {
  data: {
    id: string;
    attributes: { status: string; storage_bytes: number | null };
    meta: { last_error: string };
  };
}

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startDatabases();
});
afterAll(() => pilvi.close());

async function run(cluster: DatabaseClusterResource, sql: string): Promise<unknown> {
  const client = await connectPg(cluster);
  try {
    return await firstOf(client, sql);
  } finally {
    await client.end();
  }
}

/** Makes a snapshot, and waits until it is available. */
async function snapshot(id: string, name: string): Promise<string> {
  const path = `/databases/clusters/${id}/snapshots`;
  const { status, body } = await pilvi.api<SnapshotDocument>("POST", path, { name });
  expect(status).toBe(201);
  const made = await pilvi.api<SnapshotDocument>("GET", `/database-snapshots/${body.data.id}?wait=available`);
  expect(made.body.data.meta.last_error).toBeNull();
  expect(made.body.data.attributes.status).toBe("available");
  expect(made.body.data.attributes.storage_bytes).toBeGreaterThan(100_000);
  return body.data.id;
}

const post = async (id: string, verb: string, json: object): Promise<Answer<ClusterDocument>> =>
  await pilvi.api<ClusterDocument>("POST", `/databases/clusters/${id}/${verb}`, json);

/** Begins a restore or a clone, and waits until the new cluster is available. */
async function copy(id: string, verb: "restore" | "clone", json: object): Promise<DatabaseClusterResource> {
  const { status, body } = await post(id, verb, json);
  expect([status, body.data?.attributes.status ?? body]).toEqual([201, "restoring"]);
  return await untilCluster(pilvi, body.data.id, "available");
}

const COUNT = "select count(*)::int from kept";
const INSERT = "insert into kept select generate_series(1, 100)";

test("a snapshot is restored to a new cluster with an address and a password of its own", async () => {
  const source = await createCluster(pilvi, { name: "source" });
  await run(source, "create table kept (id int)");
  await run(source, INSERT);
  const database_snapshot_id = await snapshot(source.id, "before");
  await run(source, INSERT);
  const restored = await copy(source.id, "restore", { name: "restored", database_snapshot_id });
  const [own, former] = [restored.attributes.connection, source.attributes.connection];
  expect([own.port === former.port, own.password === former.password]).toEqual([false, false]);
  expect(await run(restored, COUNT)).toBe(100);
  expect(await run(source, COUNT)).toBe(200);
  expect(restored.meta.origin).toEqual({
    source: source.id,
    snapshot: database_snapshot_id,
    restore_time: null,
  });
  await run(restored, INSERT);
  expect(await run(source, COUNT)).toBe(200);
});

test("a cluster that sleeps is cloned, and goes on sleeping", async () => {
  const source = await createCluster(pilvi, { name: "sleeper" });
  await run(source, "create table kept (id int)");
  await run(source, INSERT);
  await pilvi.api("POST", `/databases/clusters/${source.id}/suspend`);
  const clone = await copy(source.id, "clone", { name: "clone" });
  expect(await run(clone, COUNT)).toBe(100);
  const after = await pilvi.api<ClusterDocument>("GET", `/databases/clusters/${source.id}`);
  expect(after.body.data.meta.sleep.state).toBe("asleep");
});

test("a cluster that runs is cloned as it is now", async () => {
  const source = await createCluster(pilvi, { name: "running", config: { suspend_seconds: 0 } });
  await run(source, "create table kept (id int)");
  await run(source, INSERT);
  const clone = await copy(source.id, "clone", { name: "clone" });
  expect(await run(clone, COUNT)).toBe(100);
});

test("a clone has the databases that were being created, as far as they are in its data", async () => {
  const source = await createCluster(pilvi, { name: "early", config: { suspend_seconds: 0 } });
  const store = await openStore(pilvi);
  await store`update database_schemas set status = 'creating' where database_id = ${source.id}`;
  await store`
    insert into database_schemas (id, database_id, name, status)
    values ('schema-never', ${source.id}, 'never', 'creating')`;
  await store.close();
  const clone = await copy(source.id, "clone", { name: "clone" });
  const schemas = await pilvi.api<{ data: { attributes: { name: string; status: string } }[] }>(
    "GET",
    `/databases/clusters/${clone.id}/databases`,
  );
  expect(schemas.body.data.map(({ attributes: { name, status } }) => [name, status])).toEqual([
    ["main", "available"],
  ]);
});

test("an instant of the window is restored, and other instants are refused", async () => {
  const config = { retention_days: 1, suspend_seconds: 0 };
  const source = await createCluster(pilvi, { name: "pitr", config });
  const path = `/databases/clusters/${source.id}`;
  const read = async () => (await pilvi.api<ClusterDocument>("GET", path)).body.data;
  await until("the window begins", async () => (await read()).attributes.supports_pitr === "true");
  await run(source, "create table kept (id int)");
  await run(source, INSERT);
  const at = String(
    await run(
      source,
      "select to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')",
    ),
  );
  await run(source, INSERT);
  const later = async () => (await read()).meta.backup?.latest_restore_time ?? "";
  await until("the log is shipped", async () => (await later()) > at);
  const restored = await copy(source.id, "restore", { name: "restored", restore_time: at });
  expect(await run(restored, COUNT)).toBe(100);
  expect(restored.attributes.supports_pitr).toBe("false");
  for (const restore_time of ["2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z", undefined]) {
    const { status, body } = await post(source.id, "restore", { name: "never", restore_time });
    expect([status, Object.keys((body as unknown as { errors: object }).errors)]).toEqual([
      422,
      ["restore_time"],
    ]);
  }
});

describe("the mask of a clone", () => {
  let source: DatabaseClusterResource;
  beforeAll(async () => {
    source = await createCluster(pilvi, { name: "people" });
    await run(source, "create table people (id int, email text)");
    await run(
      source,
      "insert into people select n, 'person-' || n || '@example.org' from generate_series(1, 100) n",
    );
  });

  const EMAILS = "select count(*) filter (where email like '%.org')::int from people";

  test("changes its data before anybody can log in, and never the source", async () => {
    const sql =
      "update people set email = id || '@example.com'; delete from people where id > 50; select * from people";
    const clone = await copy(source.id, "clone", { name: "masked", mask: { sql } });
    expect(await run(clone, EMAILS)).toBe(0);
    expect(await run(clone, "select count(*)::int from people")).toBe(50);
    expect(await run(source, EMAILS)).toBe(100);
    const { body } = await pilvi.api<object>("GET", `/activity?filter[resource]=${clone.id}`);
    expect(JSON.stringify(body)).not.toContain("update people");
  });

  test.each([
    [
      "an error of the engine",
      { sql: "delete from people; delete from nothing" },
      'relation "nothing" does not exist',
    ],
    ["a database that is missing", { sql: "select 1", database: "other" }, "there is no such database"],
  ])("with %s fails the clone, which nobody can log into", async (_what, mask, reason) => {
    const { body } = await post(source.id, "clone", { name: "failed", mask });
    const clone = await untilCluster(pilvi, body.data.id, "restore_failed");
    expect(clone.meta.last_error).toContain(reason);
    await expect(run(clone, "select 1")).rejects.toThrow("password authentication failed");
    await pilvi.api("DELETE", `/databases/clusters/${clone.id}`);
  });
});

test("a second of a MySQL with scheduled snapshots is restored", async () => {
  const config = { uses_scheduled_snapshots: true, retention_days: 1 };
  const source = await createCluster(pilvi, { name: "mysql", type: "platform_mysql", config });
  const path = `/databases/clusters/${source.id}`;
  const read = async () => (await pilvi.api<ClusterDocument>("GET", path)).body.data;
  await until("the window begins", async () => {
    const { supports_pitr: isOn, earliest_restore_time: earliest } = (await read()).attributes;
    return isOn === "true" && Date.parse(earliest) <= Date.now();
  });
  const client = await connectMysql(source);
  const secondOf = async () => {
    const [rows] = await client.query<RowDataPacket[]>("select unix_timestamp() as second");
    return Number(rows[0]?.second);
  };
  await client.query("create table kept (id int)");
  await client.query("insert into kept select seq from seq_1_to_100");
  const before = await secondOf();
  await until("the next second begins", async () => (await secondOf()) > before);
  const second = await secondOf();
  await client.query("insert into kept select seq from seq_1_to_100");
  await client.end();
  const at = new Date(second * 1000).toISOString();
  const later = async () => (await read()).meta.backup?.latest_restore_time ?? "";
  await until("the log is shipped", async () => (await later()) > at);
  const restored = await copy(source.id, "restore", { name: "restored-mysql", restore_time: at });
  const reader = await connectMysql(restored);
  const [rows] = await reader.query<RowDataPacket[]>("select count(*) as count from kept");
  await reader.end();
  expect(rows[0]?.count).toBe(100);
  expect(restored.attributes.supports_pitr).toBe("false");
});
