// Masked clones of a MySQL, and masks whose control plane is killed when they have run.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  startDatabases,
  untilCluster,
  type ClusterDocument,
} from "../support/pilvi/databases.ts";
import { Failpoints, until, type TestPilvi } from "../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
const failpoints = new Failpoints();
beforeAll(async () => {
  pilvi = await startDatabases(failpoints.env);
});
afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

async function run(cluster: DatabaseClusterResource, sql: string): Promise<Record<string, unknown>[]> {
  const client = await connectMysql(cluster);
  try {
    const [rows] = await client.query(sql);
    return rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

async function clone(id: string, sql: string, status: string): Promise<DatabaseClusterResource> {
  const path = `/databases/clusters/${id}/clone`;
  const made = await pilvi.api<ClusterDocument>("POST", path, { name: "clone", mask: { sql } });
  expect(made.status).toBe(201);
  return await untilCluster(pilvi, made.body.data.id, status);
}

const COUNT = "select count(*) as count from people where email like '%.org'";

test("the mask of a MySQL has several statements, and fails with the error of one of them", async () => {
  const source = await createCluster(pilvi, { name: "people", type: "platform_mysql" });
  await run(source, "create table people (id int primary key, email varchar(100))");
  await run(source, "insert into people select seq, concat(seq, '@example.org') from seq_1_to_100");
  const sql = "update people set email = concat(id, '@example.com'); select * from people; truncate people";
  const masked = await clone(source.id, sql, "available");
  expect(await run(masked, "select count(*) as count from people")).toEqual([{ count: 0 }]);
  expect(await run(source, COUNT)).toEqual([{ count: 100 }]);
  const failed = await clone(source.id, "select 1; delete from nothing", "restore_failed");
  expect(failed.meta.last_error).toContain("nothing' doesn't exist");
  await expect(run(failed, "select 1")).rejects.toThrow("Access denied");
});

test.each(["reconcile.masking", "reconcile.masked"])(
  "a mask at %s survives a kill of the control plane, and keeps logins out",
  async (step) => {
    const source = await createCluster(pilvi, { name: "people" });
    await ask(source, "create table people as select n as id from generate_series(1, 100) n");
    failpoints.arm(step);
    const json = { name: "clone", mask: { sql: "delete from people where id > 50" } };
    const path = `/databases/clusters/${source.id}/clone`;
    const { body } = await pilvi.api<ClusterDocument>("POST", path, json);
    const pid = await failpoints.reached();
    await expect(ask(body.data, "select 1")).rejects.toThrow("password authentication failed");
    process.kill(pid, "SIGKILL");
    failpoints.release();
    await until("the API is back", async () =>
      pilvi.api("GET", "/databases/clusters").then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    const masked = await untilCluster(pilvi, body.data.id, "available");
    expect(await ask(masked, "select count(*)::int as count from people")).toEqual([{ count: 50 }]);
  },
);

async function ask(cluster: DatabaseClusterResource, sql: string): Promise<Record<string, unknown>[]> {
  const client = await connectPg(cluster);
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
