// The rights of a customer in a cluster, like those of customers of managed databases.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Connection } from "mysql2/promise";
import type { Client } from "pg";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  databaseNames,
  firstOf,
  firstOfMysql,
  loginOf,
  MYSQL,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { until, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { runProgram } from "../../support/clients/programs.ts";

let pilvi: TestPilvi;

beforeAll(async () => {
  pilvi = await startDatabases();
});

afterAll(async () => {
  await pilvi.close();
});

describe("a customer of Postgres may", () => {
  let cluster: DatabaseClusterResource;
  let customer: Client;

  beforeAll(async () => {
    cluster = await createCluster(pilvi);
    customer = await connectPg(cluster);
  });

  afterAll(async () => {
    await customer.end();
  });

  test("create databases, schemas and roles, and drop them", async () => {
    await customer.query("create database extra");
    await customer.query("create schema sales; create table sales.t (id int)");
    await customer.query("create role reader login password 'secret'; grant usage on schema sales to reader");
    await customer.query("grant select on sales.t to reader");
    const reader = await connectPg(cluster, { user: "reader", password: "secret" });
    expect((await reader.query("select * from sales.t")).rows).toEqual([]);
    await expect(reader.query("drop table sales.t")).rejects.toMatchObject({ code: "42501" });
    await reader.end();
    await customer.query("drop database extra");
    await customer.query("drop schema sales cascade; drop role reader");
    expect(await databaseNames(cluster)).toEqual(["main"]);
  });

  test.each([
    ["without LOGIN", "nologin", { code: "28000", message: 'role "closed" is not permitted to log in' }],
    ["that may have no connection", "login connection limit 0", { code: "53300" }],
  ])("read why a role %s cannot log in, once its password is right", async (_, attributes, refusal) => {
    await customer.query(`create role closed ${attributes} password 'secret'`);
    const login = { user: "closed", password: "secret" };
    await expect(connectPg(cluster, login)).rejects.toMatchObject(refusal);
    const wrong = { ...login, password: "wrong" };
    await expect(connectPg(cluster, wrong)).rejects.toMatchObject({ code: "28P01" });
    await customer.query("drop role closed");
  });

  test.each([
    "btree_gin",
    "btree_gist",
    "citext",
    "cube",
    "fuzzystrmatch",
    "hstore",
    "intarray",
    "isn",
    "ltree",
    "pg_trgm",
    "pgcrypto",
    "seg",
    "tablefunc",
    "unaccent",
    "uuid-ossp",
  ])("create the extension %s", async (name) => {
    await customer.query(`create extension "${name}"`);
    await customer.query(`drop extension "${name}"`);
  });

  test("read the statistics of statements, which show nothing of the host's own", async () => {
    await customer.query("select 'a statement to be found'");
    const find = "select sum(calls)::int from pg_stat_statements where query like 'select $1'";
    expect(await firstOf(customer, find)).toBeGreaterThan(0);
    const passwords = "select count(*)::int from pg_stat_statements where query ilike '%password%SCRAM%'";
    expect(await firstOf(customer, passwords)).toBe(0);
  });

  test("read everything that pg_monitor shows", async () => {
    const views = ["pg_stat_activity", "pg_stat_database", "pg_stat_wal", "pg_stat_io", "pg_settings"];
    for (const view of views) expect((await customer.query(`select * from ${view}`)).rows).not.toBeEmpty();
    expect(await firstOf(customer, "show data_directory")).toContain(cluster.id);
    expect(await firstOf(customer, "select count(*)::int from pg_ls_waldir()")).toBeGreaterThan(0);
  });

  test("end its own sessions", async () => {
    const other = await connectPg(cluster);
    const pid = await firstOf(other, "select pg_backend_pid()");
    expect(await firstOf(customer, `select pg_terminate_backend(${pid}, 10000)`)).toBe(true);
    await expect(other.query("select 1")).rejects.toThrow();
  });

  test("dump its database", async () => {
    // The machine's pg_dump may be older than the engine, which it then refuses to dump; COPY reads the same data.
    await customer.query("create table dumped as select 1 as id");
    const { host, port, user, password } = loginOf(cluster);
    const url = `postgres://${user}@${host}:${port}/main`;
    const copy = ["psql", "-qX", url, "-c", "\\copy dumped to stdout"];
    expect(await runProgram(copy, { PGPASSWORD: password })).toBe("1\n");
    await customer.query("begin isolation level repeatable read read only");
    await customer.query("lock table dumped in access share mode");
    expect(await firstOf(customer, "select pg_get_viewdef('pg_stat_statements'::regclass)")).toContain(
      "SELECT",
    );
    expect(await firstOf(customer, "select pg_export_snapshot()")).toBeString();
    await customer.query("commit");
  });
});

describe("a customer of MySQL may", () => {
  let cluster: DatabaseClusterResource;
  let customer: Connection;

  beforeAll(async () => {
    cluster = await createCluster(pilvi, { type: MYSQL });
    customer = await connectMysql(cluster, { multipleStatements: true });
  });

  afterAll(async () => {
    await customer.end();
  });

  test("create views, triggers, procedures and functions", async () => {
    await customer.query("create table t (id int primary key auto_increment, n int)");
    await customer.query("create view v as select sum(n) as total from t");
    await customer.query("create trigger tr before insert on t for each row set new.n = new.n * 2");
    await customer.query("create procedure p(in x int) insert into t (n) values (x)");
    await customer.query("create function f() returns int reads sql data return (select total from v)");
    await customer.query("call p(21)");
    expect(await firstOfMysql(customer, "select f()")).toBe(42);
  });

  test("create events, which run", async () => {
    await customer.query("create table happened (n int)");
    await customer.query("create event e on schedule at now() do insert into happened values (1)");
    await until("the event has happened", async () => {
      return Number(await firstOfMysql(customer, "select count(*) from happened")) === 1;
    });
  });

  test("see and end its own sessions", async () => {
    const other = await connectMysql(cluster);
    other.on("error", () => undefined);
    const list = "select count(*) from information_schema.processlist where user = 'app'";
    // The session in which the event ran ends a moment after its change is visible.
    await until(
      "both sessions are listed alone",
      async () => Number(await firstOfMysql(customer, list)) === 2,
    );
    await customer.query(`kill ${other.threadId}`);
    await expect(other.query("select 1")).rejects.toThrow();
    other.destroy();
  });

  test("read all that a dump reads", async () => {
    await customer.query("create table dumped (id int)");
    await customer.query("start transaction with consistent snapshot");
    await customer.query("show create database main; show create table dumped; show fields from dumped");
    await customer.query("show triggers; show events; show create view v; show create procedure p");
    await customer.query(
      "show table status; show function status; show global status; show engine innodb status",
    );
    await customer.query("commit; lock tables dumped read; unlock tables");
  });
});
