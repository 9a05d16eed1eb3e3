// Official clients, unmodified, against all four types of database clusters.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import * as mariadb from "mariadb";
import postgres from "postgres";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import type { DatabaseType } from "../../../src/resources/databases/types.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  loginOf,
  MYSQL,
  MYSQL_CONNECT_TIMEOUT_MS,
  POSTGRES,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { runProgram } from "../../support/clients/programs.ts";
import { mysqlLoad } from "./load.ts";

const UNICODE = "moi 🐻‍❄️ Ñandú 東京 \u0000".slice(0, -1);
const LARGE = "x".repeat(8 * 1024 ** 2);

let pilvi: TestPilvi;
const clusters = new Map<DatabaseType, DatabaseClusterResource>();

beforeAll(async () => {
  pilvi = await startDatabases();
  for (const type of [POSTGRES, MYSQL, "provider_managed_postgres", "provider_managed_mysql"] as const)
    clusters.set(type, await createCluster(pilvi, { type }));
});

afterAll(async () => {
  await pilvi.close();
});

function clusterOf(type: DatabaseType): DatabaseClusterResource {
  const cluster = clusters.get(type);
  if (cluster === undefined) throw new Error(`there is no cluster of type ${type}`);
  return cluster;
}

describe.each([POSTGRES, "provider_managed_postgres"] as const)("%s with", (type) => {
  test("psql", async () => {
    const { url, env } = psqlLogin(clusterOf(type));
    const script =
      "create table by_psql (t text); insert into by_psql values ('moi'); select t from by_psql;";
    expect(await runProgram(["psql", "-qAtX", url, "-c", script], env)).toBe("moi\n");
    expect(await runProgram(["psql", "-qAtX", url, "-c", "\\conninfo"], env)).toContain('database "main"');
  });

  test("pg: rows, transactions, prepared statements, unicode, large values", async () => {
    const client = await connectPg(clusterOf(type));
    await client.query("create table by_pg (id int primary key, t text)");
    await client.query("begin");
    await client.query("insert into by_pg values (1, 'lost')");
    await client.query("rollback");
    const insert = { name: "insert", text: "insert into by_pg values ($1, $2)" };
    for (const [id, text] of [UNICODE, LARGE].entries())
      await client.query({ ...insert, values: [id, text] });
    const { rows } = await client.query<{ t: string }>("select t from by_pg order by id");
    expect(rows.map(({ t }) => t === UNICODE || t === LARGE)).toEqual([true, true]);
    await client.end();
  });

  test("pg: notifications and the cancelling of an own query", async () => {
    const [listener, other] = await Promise.all([connectPg(clusterOf(type)), connectPg(clusterOf(type))]);
    const received = new Promise((resolve) => {
      listener.once("notification", ({ payload, processId }) => resolve([payload, processId]));
    });
    await listener.query("listen news");
    await other.query("notify news, 'moi'");
    expect(await received).toEqual(["moi", await firstOf(other, "select pg_backend_pid()")]);
    const pid = await firstOf(listener, "select pg_backend_pid()");
    expect(listener).toHaveProperty("processID", pid);
    const slow = listener.query("select pg_sleep(100)");
    // It may fail before the test awaits it.
    slow.catch(() => undefined);
    const isAsleep = `select count(*)::int from pg_stat_activity where pid = ${pid} and wait_event = 'PgSleep'`;
    await until("the query runs", async () => (await firstOf(other, isAsleep)) === 1);
    expect(await firstOf(other, `select pg_cancel_backend(${pid})`)).toBe(true);
    await expect(slow).rejects.toMatchObject({ code: "57014" });
    await Promise.all([listener.end(), other.end()]);
  });

  test("postgres.js", async () => {
    const sql = postgres({ ...postgresLogin(clusterOf(type)), max: 2, onnotice: () => undefined });
    await sql`create table by_postgres_js (id int, t text)`;
    await sql.begin(async (tx) => {
      await tx`insert into by_postgres_js ${tx([{ id: 1, t: UNICODE }])}`;
    });
    expect([...(await sql`select t from by_postgres_js where id = ${1}`)]).toEqual([{ t: UNICODE }]);
    const received = new Promise(
      (resolve) => void sql.listen("news", resolve, () => void sql.notify("news", "moi")),
    );
    expect(await received).toBe("moi");
    await sql.end();
  });
});

describe.each([MYSQL, "provider_managed_mysql"] as const)("%s with", (type) => {
  test("mysql2: rows, transactions, prepared statements, unicode, large values", async () => {
    const connection = await connectMysql(clusterOf(type));
    await connection.query("create table by_mysql2 (id int primary key, t longtext)");
    await connection.beginTransaction();
    await connection.query("insert into by_mysql2 values (1, 'lost')");
    await connection.rollback();
    for (const [id, text] of [UNICODE, LARGE].entries())
      await connection.execute("insert into by_mysql2 values (?, ?)", [id, text]);
    const [rows] = await connection.execute("select t from by_mysql2 where id = ?", [0]);
    expect(rows).toEqual([{ t: UNICODE }] as never);
    expect(await firstOfMysql(connection, "select length(t) from by_mysql2 where id = 1")).toBe(LARGE.length);
    await connection.end();
  });

  test("mariadb: rows, a batch, a transaction, the killing of an own query", async () => {
    const login = { ...loginOf(clusterOf(type)), connectTimeout: MYSQL_CONNECT_TIMEOUT_MS };
    const connection = await mariadb.createConnection(login);
    const other = await mariadb.createConnection(login);
    await connection.query("create table by_mariadb (id int primary key, t text)");
    await connection.beginTransaction();
    await connection.batch("insert into by_mariadb values (?, ?)", [
      [1, UNICODE],
      [2, "b"],
    ]);
    await connection.commit();
    expect(await other.query("select t from by_mariadb where id = 1")).toMatchObject([{ t: UNICODE }]);
    const slow = connection.query("select sleep(100)");
    // It may fail before the test awaits it.
    slow.catch(() => undefined);
    const isAsleep = `select count(*) as n from information_schema.processlist where id = ${connection.threadId} and state = 'User sleep'`;
    await until("the query runs", async () => Number((await other.query(isAsleep))[0].n) === 1);
    await other.query(`kill query ${connection.threadId}`);
    await expect(slow).rejects.toMatchObject({ errno: 1317 });
    await Promise.all([connection.end(), other.end()]);
  });
});

test("pgbench runs to its end", async () => {
  const { url, env } = psqlLogin(clusterOf(POSTGRES));
  await runProgram(["pgbench", "--initialize", "--quiet", url], env);
  for (const mode of ["simple", "prepared"]) {
    const said = await runProgram(["pgbench", "-n", "-c", "4", "-t", "25", "-M", mode, url], env);
    expect(said).toContain("number of transactions actually processed: 100/100");
    expect(said).toContain("number of failed transactions: 0");
  }
});

test("a load like sysbench's runs to its end", async () => {
  expect(await mysqlLoad(loginOf(clusterOf(MYSQL)), { sessions: 4, transactions: 25 })).toBe(100);
});

function psqlLogin(cluster: DatabaseClusterResource): { url: string; env: Record<string, string> } {
  const { host, port, user, password, database } = loginOf(cluster);
  return { url: `postgres://${user}@${host}:${port}/${database}`, env: { PGPASSWORD: password } };
}

function postgresLogin(cluster: DatabaseClusterResource) {
  const { user: username, ...rest } = loginOf(cluster);
  return { ...rest, username };
}
