// Clients with an open transaction do not block the owner's changes of a cluster for good.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  createDatabase,
  databaseNames,
  deleteDatabase,
  MYSQL,
  POSTGRES,
  startDatabases,
  untilCluster,
  type ClusterDocument,
} from "../../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../../support/pilvi/pilvi.ts";

let pilvi: TestPilvi;
beforeAll(async () => {
  pilvi = await startDatabases();
});
afterAll(async () => {
  await pilvi.close();
});

/** Runs statements in a session that stays open, in order, and returns the function that ends it. */
async function run(
  cluster: DatabaseClusterResource,
  database: string,
  statements: string[],
): Promise<() => Promise<void>> {
  if (cluster.attributes.connection.protocol === "postgres") {
    const client = await connectPg(cluster, { database });
    for (const statement of statements) await client.query(statement);
    return () => client.end();
  }
  const connection = await connectMysql(cluster, { database });
  connection.on("error", () => undefined);
  for (const statement of statements) await connection.query(statement);
  return async () => connection.destroy();
}

describe.each([POSTGRES, MYSQL])("a %s", (type) => {
  let cluster: DatabaseClusterResource;
  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type });
  });

  test("drops a database in which a transaction is open", async () => {
    const id = await createDatabase(pilvi, cluster.id, "busy");
    const statements = ["create table t (a int)", "begin", "insert into t values (1)"];
    const close = await run(cluster, "busy", statements);
    await deleteDatabase(pilvi, cluster.id, id);
    expect(await databaseNames(cluster)).toEqual(["main"]);
    expect((await untilCluster(pilvi, cluster.id, "available")).meta.last_error).toBeNull();
    await close().catch(() => undefined);
  });

  test("reports a blocking transaction elsewhere, goes on serving, and applies the change after it", async () => {
    const id = await createDatabase(pilvi, cluster.id, "held");
    const statements =
      type === MYSQL
        ? ["create table held.t (a int)", "begin", "insert into held.t values (1)"]
        : ["begin", "comment on database held is 'mine'"];
    const end = await run(cluster, "main", statements);
    const path = `/databases/clusters/${cluster.id}`;
    await pilvi.api("DELETE", `${path}/databases/${id}`);
    await until("the report arrives", async () => {
      const { meta } = (await pilvi.api<ClusterDocument>("GET", path)).body.data;
      return meta.last_error?.includes("open transaction") === true;
    });
    expect(await databaseNames(cluster)).toEqual(["held", "main"]);
    await end();
    await deleteDatabase(pilvi, cluster.id, id);
    expect(await databaseNames(await untilCluster(pilvi, cluster.id, "available"))).toEqual(["main"]);
  });
});
