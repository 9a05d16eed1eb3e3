// The engine itself refuses every attempt that leads out of a cluster, or makes its customer more than a customer.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Connection } from "mysql2/promise";
import type { Client } from "pg";
import * as z from "zod/mini";
import { readJsonAs } from "../../src/contracts/read.ts";
import type { DatabaseClusterResource } from "../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectMysqlAdmin,
  connectPg,
  connectPgAdmin,
  createCluster,
  createDatabase,
  MYSQL,
  POSTGRES_MAJORS,
  startDatabases,
} from "../support/pilvi/databases.ts";
import { type TestPilvi } from "../support/pilvi/pilvi.ts";

/** Any user may write here, so only the engine's own refusal keeps an attempt from leaving a file. */
const CANARY = "canary";

const sqlState = z.string().check(z.regex(/^[0-9A-Z]{5}$/));
/** A SQLSTATE: the same in each version, or each with the first version that gives it. */
const postgresCode = z.union([
  sqlState,
  z
    .partialRecord(z.enum(POSTGRES_MAJORS.map(String)), sqlState)
    .check(z.refine((codes) => String(POSTGRES_MAJORS[0]) in codes)),
]);

const postgresAttempts = attemptsIn("refusals-postgres.json", postgresCode);
const mysqlAttempts = attemptsIn("refusals-mysql.json", z.int());

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
  mkdirSync(join(pilvi.dataDir, CANARY));
  chmodSync(join(pilvi.dataDir, CANARY), 0o777);
});

afterAll(async () => {
  expect(readdirSync(join(pilvi.dataDir, CANARY))).toBeEmpty();
  await pilvi.close();
});

/** The attempts of a data file, whose sections are for its readers alone. */
function attemptsIn<T>(
  file: string,
  codeSchema: z.ZodMiniType<T>,
): [subject: string, sql: string, code: T][] {
  const attempt = z.strictObject({ subject: z.string(), sql: z.string(), code: codeSchema });
  const text = readFileSync(join(import.meta.dir, "data", file), "utf8");
  const sections = readJsonAs(z.record(z.string(), z.array(attempt)), text, `The file ${file}`);
  return Object.values(sections)
    .flat()
    .map(({ subject, sql, code }) => [subject, sql, code]);
}

/** The SQLSTATE of a version. */
function codeIn(major: number, code: z.infer<typeof postgresCode>): string {
  if (typeof code === "string") return code;
  const since = Object.keys(code)
    .map(Number)
    .filter((first) => first <= major);
  return code[Math.max(...since)] ?? "";
}

function canaryFile(): string {
  return join(pilvi.dataDir, CANARY, "file");
}

/** The files that the host wrote for an engine. */
function configOf({ id }: DatabaseClusterResource): string[] {
  const folder = join(pilvi.dataDir, "instances", id, "conf");
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
}

describe.each(POSTGRES_MAJORS)("Postgres %i refuses", (major) => {
  let cluster: DatabaseClusterResource;
  let customer: Client;
  let before: unknown;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { version: String(major) });
    expect(cluster.meta.version).toBe(String(major));
    customer = await connectPg(cluster);
    before = await powers();
  });

  afterAll(async () => {
    await customer.end();
    expect(await powers()).toEqual(before);
  });

  /** Everything that an attempt could have changed for good. */
  async function powers(): Promise<unknown> {
    const admin = await connectPgAdmin(pilvi, cluster);
    const lists = [
      "select rolname, rolsuper, rolcreaterole, rolreplication, rolbypassrls, rolpassword from pg_authid order by 1",
      "select roleid::regrole, member::regrole, admin_option from pg_auth_members order by 1, 2",
      "select name, setting from pg_settings order by 1",
      "select * from pg_db_role_setting",
      "select datname, datdba::regrole from pg_database order by 1",
      "select subname from pg_subscription",
      "select slot_name from pg_replication_slots",
      "select spcname from pg_tablespace order by 1",
    ];
    const rows = [];
    for (const sql of lists) rows.push((await admin.query(sql)).rows);
    await admin.end();
    return [rows, configOf(cluster)];
  }

  test.each(postgresAttempts)("%s", async (_, sql, code) => {
    // Statements that are sent together are one transaction, so a refusal rolls all of them back.
    const attempt = customer.query(sql.replaceAll("CANARY", canaryFile()));
    await expect(attempt).rejects.toMatchObject({ code: codeIn(major, code) });
  });

  test.each([
    ["a login of the administrator with any password", { user: "pilvi_admin", password: "x" }, "28P01"],
    ["a login of the administrator with the customer's password", { user: "pilvi_admin" }, "28P01"],
    ["a replication session", { replication: "database" }, "53300"],
    ["a physical replication session", { replication: "true" }, "53300"],
    ["a library to load by its path", { options: "-c local_preload_libraries=/tmp/x" }, "42501"],
    ["a setting of superusers at login", { options: "-c session_preload_libraries=x" }, "42501"],
  ])("%s", async (_, options, code) => {
    await expect(connectPg(cluster, options)).rejects.toMatchObject({ code });
  });

  test.each(["postgres", "template1"])("objects in the database %s", async (database) => {
    const elsewhere = await connectPg(cluster, { database });
    for (const what of [
      "table public.t (x int)",
      "schema mallory",
      "function public.f() returns int return 1",
    ])
      await expect(elsewhere.query(`create ${what}`)).rejects.toMatchObject({ code: "42501" });
    await elsewhere.end();
  });

  test("to end a session of the administrator", async () => {
    const admin = await connectPgAdmin(pilvi, cluster);
    const pid = (await admin.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
    for (const name of ["pg_terminate_backend", "pg_cancel_backend"])
      await expect(customer.query(`select ${name}(${pid})`)).rejects.toMatchObject({ code: "42501" });
    await admin.end();
  });
});

describe("MySQL refuses", () => {
  let cluster: DatabaseClusterResource;
  let customer: Connection;
  let before: unknown;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type: MYSQL });
    await createDatabase(pilvi, cluster.id, "a_b");
    const admin = await connectMysqlAdmin(pilvi, cluster);
    // A database that is not the customer's, whose name the grant for `a_b` would match if it were a pattern.
    await admin.query("create database axb");
    await admin.query("create table axb.t (id int)");
    await admin.end();
    customer = await connectMysql(cluster);
    before = await powers();
  });

  afterAll(async () => {
    await customer.end();
    expect(await powers()).toEqual(before);
  });

  /** Everything that an attempt could have changed for good. */
  async function powers(): Promise<unknown> {
    const admin = await connectMysqlAdmin(pilvi, cluster);
    const lists = [
      "select * from mysql.global_priv order by 1, 2",
      "select * from mysql.db order by 1, 2, 3",
      "select * from mysql.plugin",
      "select * from mysql.func",
      "select * from mysql.servers",
      "show databases",
      "show tables from axb",
      "select routine_schema, routine_name from information_schema.routines where definer like 'root%' order by 1, 2",
      "select variable_name, variable_value from information_schema.global_variables where variable_name not like 'timestamp' order by 1",
    ];
    const rows = [];
    for (const sql of lists) rows.push((await admin.query(sql))[0]);
    await admin.end();
    return [rows, configOf(cluster)];
  }

  test.each(mysqlAttempts)("%s", async (_, sql, errno) => {
    const attempt = customer.query(sql.replaceAll("CANARY", canaryFile()));
    await expect(attempt).rejects.toMatchObject({ errno });
  });

  test("to return the content of a server's file, by answering null", async () => {
    for (const path of ["/etc/hostname", join(pilvi.dataDir, "instances", cluster.id, "run", "engine.pid")]) {
      const [rows] = await customer.query("select load_file(?) as content", [path]);
      expect(rows).toEqual([{ content: null }] as never);
    }
  });

  test.each([
    ["the administrator over TCP without a password", { user: "root", password: "" }, 1045],
    ["the administrator over TCP with the customer's password", { user: "root" }, 1045],
    ["nobody at all", { user: "", password: "" }, 1045],
    ["the owner of the system's views", { user: "mariadb.sys", password: "" }, 1045],
  ])("%s", async (_, options, errno) => {
    await expect(connectMysql(cluster, options)).rejects.toMatchObject({ errno });
  });

  test.each(["innodb", "myisam", "aria"])(
    "a table of %s elsewhere on the disk, by keeping it at home",
    async (engine) => {
      const elsewhere = join(pilvi.dataDir, CANARY);
      await customer.query(
        `create table t (id int primary key) engine=${engine} data directory='${elsewhere}'`,
      );
      await customer.query("insert into t values (1)");
      expect(readdirSync(elsewhere)).toBeEmpty();
      await customer.query("drop table t");
    },
  );

  test("to end another user's session", async () => {
    const admin = await connectMysqlAdmin(pilvi, cluster);
    await expect(customer.query(`kill ${admin.threadId}`)).rejects.toMatchObject({ errno: 1095 });
    await expect(customer.query(`kill query ${admin.threadId}`)).rejects.toMatchObject({ errno: 1095 });
    await admin.end();
  });
});
