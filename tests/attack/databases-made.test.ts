// Databases that customers make by SQL stay theirs, and passwords that they change by SQL are reported, under kills at
// any step.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import { putToSleep, read } from "../crash/sleepers.ts";
import {
  connectMysql,
  connectMysqlAdmin,
  connectPg,
  createCluster,
  createDatabase,
  databaseNames,
  deleteCluster,
  deleteDatabase,
  MYSQL,
  POSTGRES,
  startDatabases,
  untilCluster,
  type DatabaseDocument,
} from "../support/pilvi/databases.ts";
import { Failpoints, until, type TestPilvi } from "../support/pilvi/pilvi.ts";
import { killIfThere } from "../support/pilvi/processes.ts";

const POINTS = [
  "host.database.created",
  "host.database.recorded",
  "host.database.closed",
  "host.database.forgotten",
] as const;

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

async function run(
  cluster: DatabaseClusterResource,
  database: string,
  ...statements: string[]
): Promise<void> {
  if (cluster.attributes.connection.protocol === "postgres") {
    const client = await connectPg(cluster, { database });
    for (const statement of statements) await client.query(statement);
    return await client.end();
  }
  const connection = await connectMysql(cluster, { database });
  for (const statement of statements) await connection.query(statement);
  await connection.end();
}

/** Makes a database by SQL as a customer. In a MariaDB that takes a grant that an earlier Pilvi has left behind. */
async function makeBySql(cluster: DatabaseClusterResource, name: string): Promise<void> {
  if (cluster.attributes.connection.protocol === "mysql") {
    const admin = await connectMysqlAdmin(pilvi, cluster);
    await admin.query(`grant all privileges on \`${name}\`.* to 'app'@'%'`);
    await admin.end();
  }
  await run(cluster, "main", `create database ${name}`);
  await run(cluster, name, "create table theirs (id int)");
}

async function order(cluster: DatabaseClusterResource, name: string): Promise<string> {
  const path = `/databases/clusters/${cluster.id}/databases`;
  const { status, body } = await pilvi.api<DatabaseDocument>("POST", path, { name });
  expect(status).toBe(201);
  return body.data.id;
}

async function statusOf(cluster: DatabaseClusterResource, id: string): Promise<string> {
  const path = `/databases/clusters/${cluster.id}/databases/${id}`;
  return (await pilvi.api<DatabaseDocument>("GET", path)).body.data.attributes.status;
}

describe.each([POSTGRES, MYSQL])("in a %s", (type) => {
  let cluster: DatabaseClusterResource;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type });
  });

  afterAll(() => deleteCluster(pilvi, cluster.id));

  const untilError = (part: string) =>
    until(`the cluster reports "${part}"`, async () =>
      ((await read(pilvi, cluster)).meta.last_error ?? "").includes(part),
    );

  test("a database that SQL made is neither adopted nor dropped, and the API's databases are made", async () => {
    await makeBySql(cluster, "theirs");
    const id = await order(cluster, "theirs");
    await untilError('"theirs" cannot be made');
    const other = await createDatabase(pilvi, cluster.id, "other");
    expect(await statusOf(cluster, id)).toBe("creating");
    expect((await read(pilvi, cluster)).attributes.status).toBe("available");
    await putToSleep(pilvi, cluster);
    await run(cluster, "theirs", "select * from theirs");
    expect(await statusOf(cluster, id)).toBe("creating");
    await deleteDatabase(pilvi, cluster.id, id);
    await run(cluster, "theirs", "select * from theirs");
    await deleteDatabase(pilvi, cluster.id, other);
    await until(
      "no fault is shown any more",
      async () => (await read(pilvi, cluster)).meta.last_error === null,
    );
    await run(cluster, "main", "drop database theirs");
  });

  test("a database that waits for a name is made when the name is free", async () => {
    await makeBySql(cluster, "blocked");
    const id = await order(cluster, "blocked");
    await untilError('"blocked" cannot be made');
    await run(cluster, "main", "drop database blocked");
    await until("it is made", async () => (await statusOf(cluster, id)) === "available");
    await run(cluster, "blocked", "create table ours (id int)");
    await deleteDatabase(pilvi, cluster.id, id);
  });

  describe.each(POINTS)("a host that is killed at %s", (point) => {
    afterEach(() => failpoints.release());

    test("leaves the databases that the API was asked for", async () => {
      const kept = `kept${POINTS.indexOf(point)}`;
      const isMade = point === "host.database.created" || point === "host.database.recorded";
      const before = isMade ? null : await createDatabase(pilvi, cluster.id, kept);
      failpoints.arm(point);
      const path = `/databases/clusters/${cluster.id}/databases`;
      if (before === null) await pilvi.api("POST", path, { name: kept });
      else await pilvi.api("DELETE", `${path}/${before}`);
      killIfThere(await failpoints.reached());
      failpoints.release();
      await pilvi.untilReady();
      await until(
        "the cluster has what was asked for",
        async () => (await databaseNames(cluster).catch((): unknown[] => [])).includes(kept) === isMade,
      );
      if (isMade) {
        await until("it can be used", () =>
          run(cluster, kept, "select 1").then(
            () => true,
            () => false,
          ),
        );
        const { relationships } = await untilCluster(pilvi, cluster.id, "available");
        const made = relationships.databases.data.at(-1)?.id ?? "";
        await until("it is available", async () => (await statusOf(cluster, made)) === "available");
        await deleteDatabase(pilvi, cluster.id, made);
      }
      // A reconcile that drops the database would wake a cluster that is suspended meanwhile.
      if (before !== null)
        expect((await pilvi.api("GET", `${path}/${before}?wait=deleted`)).status).toBe(404);
      await until("it is gone", async () => !(await databaseNames(cluster)).includes(kept));
    });
  });

  test("a password that SQL changed is reported, and restored before the sleep", async () => {
    const change = type === MYSQL ? "set password = password('mine')" : "alter role app password 'mine'";
    await run(cluster, "main", change);
    await putToSleep(pilvi, cluster);
    await untilError("was changed by SQL");
    expect((await read(pilvi, cluster)).attributes.status).toBe("available");
    await run(cluster, "main", "select 1");
    await until(
      "no fault is shown any more",
      async () => (await read(pilvi, cluster)).meta.last_error === null,
    );
  });
});
