// Databases in a cluster: the API's databases are the databases that SQL sees, and no others are touched.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  createDatabase,
  databaseNames,
  deleteCluster,
  deleteDatabase,
  MYSQL,
  orderCluster,
  POSTGRES,
  processesOf,
  untilCluster,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { Failpoints, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { isAlive } from "../../support/pilvi/processes.ts";

let pilvi: TestPilvi;
let failpoints: Failpoints;

beforeAll(async () => {
  failpoints = new Failpoints();
  pilvi = await startDatabases(failpoints.env);
});

afterAll(async () => {
  await pilvi.close();
  failpoints.close();
});

/** Opens a session in a database and returns functions that run a statement there and end it. */
async function open(cluster: DatabaseClusterResource, database: string) {
  if (cluster.attributes.connection.protocol === "postgres") {
    const client = await connectPg(cluster, { database });
    return { run: (sql: string) => client.query(sql) as Promise<unknown>, end: () => client.end() };
  }
  const connection = await connectMysql(cluster, { database });
  return { run: (sql: string) => connection.query(sql) as Promise<unknown>, end: () => connection.end() };
}

test.each(["provider_managed_postgres", MYSQL])(
  "a %s may lose its first database before it runs",
  async (type) => {
    failpoints.arm("loop.taken");
    const { id, relationships } = await orderCluster(pilvi, { type });
    await failpoints.reached();
    const path = `/databases/clusters/${id}/databases`;
    await pilvi.api("DELETE", `${path}/${relationships.databases.data[0]?.id}`);
    await pilvi.api("POST", path, { name: "other" });
    failpoints.release();
    expect(await databaseNames(await untilCluster(pilvi, id, "available"))).toEqual(["other"]);
    await deleteCluster(pilvi, id);
  },
);

describe.each([POSTGRES, MYSQL])("the databases of a %s", (type) => {
  let cluster: DatabaseClusterResource;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type });
  });

  test("that the API creates can be used at once, and databases that it deletes are gone", async () => {
    const pids = processesOf(pilvi, cluster.id);
    const keep = await open(cluster, "main");
    await keep.run("create table kept (id int)");
    const id = await createDatabase(pilvi, cluster.id, "reports");
    expect(await databaseNames(cluster)).toEqual(["main", "reports"]);
    const session = await open(cluster, "reports");
    await session.run("create table t (id int)");
    await session.end();
    await deleteDatabase(pilvi, cluster.id, id);
    expect(await databaseNames(cluster)).toEqual(["main"]);
    // The session that was open all the time shows that the engine was not restarted.
    await keep.run("select * from kept");
    await keep.end();
    expect(isAlive(pids[0] ?? 0)).toBe(true);
    expect(processesOf(pilvi, cluster.id)[0]).toBe(pids[0] ?? 0);
  });

  test("are deleted although sessions use them", async () => {
    const id = await createDatabase(pilvi, cluster.id, "busy");
    const session = await open(cluster, "busy");
    await session.run("create table t (id int)");
    await deleteDatabase(pilvi, cluster.id, id);
    await expect(session.run("select * from t")).rejects.toThrow();
    await session.end().catch(() => undefined);
    expect(await databaseNames(cluster)).toEqual(["main"]);
  });

  test("can be created anew under the same name, and are empty then", async () => {
    const first = await createDatabase(pilvi, cluster.id, "again");
    const session = await open(cluster, "again");
    await session.run("create table t (id int)");
    await session.end();
    await deleteDatabase(pilvi, cluster.id, first);
    await createDatabase(pilvi, cluster.id, "again");
    const anew = await open(cluster, "again");
    await expect(anew.run("select * from t")).rejects.toThrow();
    await anew.end();
  });

  test.each(["a-b", "UPPER", "a_b", "ümlaut"])(
    "may be called %s where the API takes the name",
    async (name) => {
      const path = `/databases/clusters/${cluster.id}/databases`;
      const { status } = await pilvi.api("POST", path, { name });
      if (status === 422) return;
      await createDatabase(pilvi, cluster.id, `${name}2`);
      expect(await databaseNames(cluster)).toContain(name);
      const session = await open(cluster, name);
      await session.run("create table t (id int)");
      await session.end();
    },
  );

  test("that SQL created are left alone", async () => {
    if (type === MYSQL) return;
    const session = await open(cluster, "main");
    await session.run("create database by_hand");
    await session.end();
    const id = await createDatabase(pilvi, cluster.id, "by_api");
    await deleteDatabase(pilvi, cluster.id, id);
    expect(await databaseNames(cluster)).toContain("by_hand");
  });

  test("may all be deleted, and the cluster stays usable, also after a restart", async () => {
    const { relationships } = await untilCluster(pilvi, cluster.id, "available");
    for (const { id } of relationships.databases.data) await deleteDatabase(pilvi, cluster.id, id);
    const own = type === MYSQL ? [] : ["by_hand"];
    expect(await databaseNames(cluster)).toEqual(own);
    await pilvi.stop();
    await pilvi.start();
    await untilCluster(pilvi, cluster.id, "available");
    expect(await databaseNames(cluster)).toEqual(own);
    await createDatabase(pilvi, cluster.id, "main");
    const session = await open(cluster, "main");
    await session.run("create table t (id int)");
    await session.end();
    await deleteCluster(pilvi, cluster.id);
  });
});
