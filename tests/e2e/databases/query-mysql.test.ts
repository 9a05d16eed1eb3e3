// Statements that run through the API in a MariaDB: what the answer shows of every type, read-only transactions that
// cannot be left, results beyond every bound, and cancels that reach the engine.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Connection } from "mysql2/promise";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  connectMysql,
  createCluster,
  firstOfMysql,
  MYSQL,
  startDatabases,
} from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { Queries } from "../../support/pilvi/queries.ts";

const START_MS = 240_000;

let pilvi: TestPilvi;
let cluster: DatabaseClusterResource;
let queries: Queries;
let client: Connection;

beforeAll(async () => {
  pilvi = await startDatabases();
  cluster = await createCluster(pilvi, { type: MYSQL });
  queries = await Queries.in(pilvi, cluster);
  client = await connectMysql(cluster);
  await client.query("create table notes (id int primary key, text longtext)");
  await client.query("insert into notes values (1, 'first')");
}, START_MS);

afterAll(async () => {
  await client.end();
  await pilvi.close();
});

/** How many statements with a sleep the engine runs. */
async function sleeping(): Promise<number> {
  const sql =
    "select count(*) from information_schema.processlist where info like 'select sleep%' and state = 'User sleep'";
  return Number(await firstOfMysql(client, sql));
}

test("every value is the engine's own text, under its type", async () => {
  await client.query(`create or replace table kinds (
    id bigint unsigned, price decimal(10,2), ratio double, none int, text varchar(20), bytes varbinary(4), bits bit(4),
    choice enum('a','b'), choices set('a','b'), day date, moment datetime(3), stamp timestamp null, part time,
    year year, document json, big blob, letter char(2), place point, uuid uuid, address inet6)`);
  await client.query(`insert into kinds values (
    18446744073709551615, 1.5, 0.1, null, 'ä€😀', x'00ff', b'101', 'b', 'a,b', '2000-01-01', '2026-01-02 03:04:05.678',
    null, '-12:00:00', 2026, '{"a": [1]}', x'ff', 'ab', null, '0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f', '::1')`);
  const { columns, rows, row_count, truncated } = await queries.result("select * from kinds");
  expect(columns.map(({ name, type }, index) => [name, type, rows[0]?.[index]])).toEqual([
    ["id", "bigint unsigned", "18446744073709551615"],
    ["price", "decimal", "1.50"],
    ["ratio", "double", "0.1"],
    ["none", "int", null],
    ["text", "varchar", "ä€😀"],
    ["bytes", "varbinary", "0x00FF"],
    ["bits", "bit", "0x05"],
    ["choice", "enum", "b"],
    ["choices", "set", "a,b"],
    ["day", "date", "2000-01-01"],
    ["moment", "datetime", "2026-01-02 03:04:05.678"],
    ["stamp", "timestamp", null],
    ["part", "time", "-12:00:00"],
    ["year", "year", "2026"],
    ["document", "text", '{"a": [1]}'],
    ["big", "blob", "0xFF"],
    ["letter", "char", "ab"],
    ["place", "geometry", null],
    ["uuid", "char", "0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f"],
    ["address", "char", "::1"],
  ]);
  expect([row_count, truncated]).toEqual([1, false]);
});

test("statements without rows answer as well", async () => {
  expect(await queries.result("explain select 1")).toMatchObject({ row_count: 1 });
  expect((await queries.result("show tables")).rows).toEqual([["kinds"], ["notes"]]);
  expect((await queries.result("(select 1)")).rows).toEqual([["1"]]);
  expect(
    (await queries.result("/* why */ -- who\n# what\n with a as (select 2) select * from a")).rows,
  ).toEqual([["2"]]);
  expect(await queries.write("do sleep(0)")).toMatchObject({ columns: [], rows: [], command: null });
});

test("a fault is answered in the engine's words, with its code and place", async () => {
  const { status, body } = await queries.answer("select 'ä' frm notes");
  expect([status, body.engine]).toEqual([
    422,
    { code: "1064", position: 16, detail: null, hint: null } as never,
  ]);
  const unknown = await queries.answer("select missing from notes");
  expect([unknown.status, unknown.body.message, unknown.body.engine?.code]).toEqual([
    422,
    "Unknown column 'missing' in 'SELECT'",
    "1054",
  ]);
});

test("warnings come with the result", async () => {
  const { notices } = await queries.result("select 1/0");
  expect(notices).toEqual([{ severity: "WARNING", code: "1365", message: "Division by 0" }]);
});

const ESCAPES = [
  "insert into notes values (2, 'x')",
  "commit; insert into notes values (2, 'x')",
  "select 1; insert into notes values (2, 'x')",
  "begin not atomic commit; insert into notes values (2, 'x'); end",
  "begin not atomic set session transaction read write; commit; insert into notes values (2, 'x'); end",
  "/*! begin not atomic commit; set session transaction read write; delete from notes; end */",
  "/*M! begin not atomic commit; set session transaction read write; delete from notes; end */",
  "if 1 then set session transaction read write; commit; delete from notes; end if",
  "execute immediate 'delete from notes'",
  "set statement max_statement_time = 0 for delete from notes",
  "call leave_it()",
  "create table more (id int)",
  "drop table notes",
  "truncate notes",
  "analyze delete from notes",
  "explain analyze delete from notes",
  "with a as (select 1) delete from notes",
  "select counted()",
  "load data local infile '/etc/passwd' into table notes",
  "select * from notes into outfile '/tmp/pilvi-query'",
  "drop user current_user()",
];

test.each(ESCAPES)("read-only, nothing is changed by: %s", async (statement) => {
  await client.query("drop procedure if exists leave_it");
  await client.query(
    "create procedure leave_it() begin commit; set session transaction read write; delete from notes; end",
  );
  await client.query("drop function if exists counted");
  await client.query("create function counted() returns int begin delete from notes; return 1; end");
  expect((await queries.answer(statement)).status).toBe(422);
  expect((await queries.result("select * from notes")).rows).toEqual([["1", "first"]]);
});

test("a statement that may write writes, one at a time", async () => {
  const made = await queries.result("insert into notes select seq, 'many' from seq_10_to_1009", {
    read_only: false,
    max_rows: 5,
  });
  expect([made.row_count, made.truncated]).toEqual([1000, false]);
  const gone = await queries.result("delete from notes where id >= 10 returning id", {
    read_only: false,
    max_rows: 5,
  });
  expect([gone.rows.length, gone.truncated]).toEqual([5, true]);
  expect((await queries.result("select count(*) from notes")).rows).toEqual([["1"]]);
  const two = await queries.answer("delete from notes; select 1", { read_only: false });
  expect([two.status, two.body.engine?.code]).toEqual([422, "1064"]);
});

test("a procedure runs to its end, and its first result is shown", async () => {
  await client.query("drop procedure if exists several");
  await client.query("create procedure several() begin select 1 as one; select 2 as two; end");
  const { columns, rows, notices } = await queries.write("call several()");
  expect([columns[0]?.name, rows]).toEqual(["one", [["1"]]]);
  expect(notices).toEqual([{ severity: "NOTE", code: "0", message: "A further result is not shown." }]);
});

test("an endless result ends at the rows asked for", async () => {
  const { rows, truncated, row_count } = await queries.result("select seq from seq_1_to_1000000000000", {
    max_rows: 3,
  });
  expect([rows, truncated, row_count]).toEqual([[["1"], ["2"], ["3"]], true, null]);
  expect((await queries.result("select 1", { max_rows: 1 })).truncated).toBe(false);
});

test("a long value is cut and says so, and the values behind it are there", async () => {
  const { rows, cut_cells } = await queries.result("select repeat('€', 100000), 'after'");
  expect(cut_cells).toEqual([{ row: 0, column: 0, bytes: 300_000 }]);
  expect(rows[0]?.[0]).toBe("€".repeat(21_845));
  expect(rows[0]?.[1]).toBe("after");
});

test("a value of more than one packet shows its beginning", async () => {
  await client.query("insert into notes values (7, repeat('x', 12000000))");
  const { rows, cut_cells, truncated } = await queries.result(
    "select concat(text, text) as doubled, 'after' from notes where id = 7",
  );
  await client.query("delete from notes where id = 7");
  expect([rows[0]?.[0]?.length, rows[0]?.[1], truncated]).toEqual([65_536, "", true]);
  expect(cut_cells[0]).toEqual({ row: 0, column: 0, bytes: 24_000_000 });
});

test("the deadline ends the statement at the engine", async () => {
  const { status, body } = await queries.answer("select sleep(1000)", { timeout_seconds: 1 });
  expect([status, body.message]).toEqual([422, "The statement was not done after 1 s and was canceled."]);
  await until("the engine has ended it", async () => (await sleeping()) === 0);
});

test("a caller that goes away ends the statement at the engine", async () => {
  const caller = new AbortController();
  const answer = queries.send("select sleep(1000)", caller.signal).catch(() => "gone");
  await until("the statement runs", async () => (await sleeping()) === 1);
  caller.abort();
  expect(await answer).toBe("gone");
  await until("the engine has ended it", async () => (await sleeping()) === 0);
});
