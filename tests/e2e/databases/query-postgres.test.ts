// Statements that run through the API in a Postgres: what the answer shows of every type, read-only transactions that
// cannot be left, results beyond every bound, and cancels that reach the engine.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "pg";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { connectPg, createCluster, firstOf, startDatabases } from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { Queries } from "../../support/pilvi/queries.ts";

const START_MS = 240_000;
const MEBIBYTE = 1024 ** 2;

let pilvi: TestPilvi;
let cluster: DatabaseClusterResource;
let queries: Queries;
let client: Client;

beforeAll(async () => {
  pilvi = await startDatabases();
  cluster = await createCluster(pilvi);
  queries = await Queries.in(pilvi, cluster);
  client = await connectPg(cluster);
  await client.query("create table notes (id int primary key, text text)");
  await client.query("insert into notes values (1, 'first')");
}, START_MS);

afterAll(async () => {
  await client.end();
  await pilvi.close();
});

/** How many statements of queries the engine runs. */
async function running(): Promise<number> {
  const sql =
    "select count(*)::int from pg_stat_activity where application_name = 'pilvi query' and state = 'active'";
  return Number(await firstOf(client, sql));
}

test("every value is the engine's own text, under its type", async () => {
  const { columns, rows, row_count, command, truncated } = await queries.result(`
    select 9007199254740993 as id, 'NaN'::float8 as nothing, 1.50::numeric(10,2) as price, null as none, 'ä€😀' as text,
           '\\x00ff'::bytea as bytes, array[1,null,3] as list, '{"a": [1]}'::jsonb as document, true as yes,
           'infinity'::timestamptz as forever, '0099-01-02 BC'::date as ancient, row(1, 'x') as pair`);
  expect(columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    "id bigint",
    "nothing double precision",
    "price numeric(10,2)",
    "none text",
    "text text",
    "bytes bytea",
    "list integer[]",
    "document jsonb",
    "yes boolean",
    "forever timestamp with time zone",
    "ancient date",
    "pair record",
  ]);
  expect(rows).toEqual([
    [
      "9007199254740993",
      "NaN",
      "1.50",
      null,
      "ä€😀",
      "\\x00ff",
      "{1,NULL,3}",
      '{"a": [1]}',
      "t",
      "infinity",
      "0099-01-02 BC",
      "(1,x)",
    ],
  ]);
  expect([row_count, command, truncated]).toEqual([1, "SELECT", false]);
});

test("statements without rows answer as well", async () => {
  expect(await queries.result("set work_mem = '8MB'")).toMatchObject({
    columns: [],
    rows: [],
    command: "SET",
  });
  expect(await queries.result("listen news")).toMatchObject({ rows: [], command: "LISTEN" });
  expect(await queries.result("-- nothing")).toMatchObject({ columns: [], rows: [], command: null });
  expect(await queries.result("select")).toMatchObject({ columns: [], rows: [[]], row_count: 1 });
  expect((await queries.result("show server_encoding")).rows).toEqual([["UTF8"]]);
  expect((await queries.result("explain select 1")).columns).toEqual([{ name: "QUERY PLAN", type: "text" }]);
});

test("a fault is answered in the engine's words, with its code and place", async () => {
  const { status, body } = await queries.answer("select 'ä', missing from notes");
  expect(status).toBe(422);
  expect(body).toEqual({
    message: 'column "missing" does not exist',
    errors: { statement: ['column "missing" does not exist'] },
    engine: { code: "42703", position: 13, detail: null, hint: null },
  } as never);
});

test("notices come with the result", async () => {
  const { notices } = await queries.result("do $$ begin raise warning 'careful'; end $$");
  expect(notices).toEqual([{ severity: "WARNING", code: "01000", message: "careful" }]);
});

test("COPY to and from a client is refused", async () => {
  for (const [statement, members] of [
    ["copy notes to stdout", {}],
    ["copy notes from stdin", { read_only: false }],
  ] as const) {
    const { status, body } = await queries.answer(statement, members);
    expect([status, body.message]).toEqual([
      422,
      "COPY from and to a client does not work here. Use `pilvi databases psql`.",
    ]);
  }
});

const ESCAPES = [
  "insert into notes values (2, 'x')",
  "commit; insert into notes values (2, 'x')",
  "commit; drop table notes",
  "rollback; begin read write; insert into notes values (2, 'x'); commit",
  "do $$ begin commit; insert into notes values (2, 'x'); end $$",
  "do $$ begin set transaction read write; insert into notes values (2, 'x'); end $$",
  "do $$ begin perform set_config('transaction_read_only', 'off', false); insert into notes values (2, 'x'); end $$",
  "with gone as (delete from notes returning *) select * from gone",
  "explain analyze delete from notes",
  "select set_config('transaction_read_only', 'off', true), nextval('counter')",
  "create table more (id int)",
  "truncate notes",
  "vacuum notes",
  "call leave()",
];

test.each(ESCAPES)("read-only, nothing is changed by: %s", async (statement) => {
  await client.query("create sequence if not exists counter");
  await client.query(
    "create or replace procedure leave() language plpgsql as 'begin commit; delete from notes; end'",
  );
  const { status } = await queries.answer(statement);
  expect(status).toBe(422);
  expect((await queries.result("table notes")).rows).toEqual([["1", "first"]]);
});

test.each(["commit", "rollback", "commit and chain", "set transaction read write", "discard all"])(
  "a statement that ends or changes the transaction has no successor: %s",
  async (statement) => {
    await queries.answer(statement);
    expect((await queries.answer("insert into notes values (3, 'x')")).body.engine?.code).toBe("25006");
  },
);

test("a statement that may write writes, one at a time", async () => {
  const made = await queries.write("insert into notes select n, 'many' from generate_series(10, 1009) n");
  expect([made.command, made.row_count]).toEqual(["INSERT", 1000]);
  const gone = await queries.result("delete from notes where id >= 10 returning id", {
    read_only: false,
    max_rows: 5,
  });
  expect([gone.rows.length, gone.truncated]).toEqual([5, true]);
  expect((await queries.result("select count(*) from notes")).rows).toEqual([["1"]]);
  expect((await queries.write("vacuum notes")).command).toBe("VACUUM");
  const two = await queries.answer("delete from notes; select 1", { read_only: false });
  expect([two.status, two.body.engine?.code]).toEqual([422, "42601"]);
});

test("an endless result ends at the rows asked for", async () => {
  const { rows, truncated, row_count } = await queries.result("select generate_series(1, 1000000000000)", {
    max_rows: 3,
  });
  expect([rows, truncated, row_count]).toEqual([[["1"], ["2"], ["3"]], true, null]);
  expect((await queries.result("select 1", { max_rows: 1 })).truncated).toBe(false);
});

test("a long value is cut and says so, without breaking a character", async () => {
  const { rows, cut_cells } = await queries.result("select repeat('€', 100000), 'after'");
  expect(cut_cells).toEqual([{ row: 0, column: 0, bytes: 300_000 }]);
  expect(rows[0]?.[0]).toBe("€".repeat(21_845));
  expect(rows[0]?.[1]).toBe("after");
});

test("a value of thirty megabytes shows its beginning, and the values behind it as not reached", async () => {
  const { rows, cut_cells, truncated } = await queries.result("select repeat('x', 30000000), 'after'");
  expect([rows[0]?.[0]?.length, rows[0]?.[1], truncated]).toEqual([65_536, "", true]);
  expect(cut_cells).toEqual([
    { row: 0, column: 0, bytes: 30_000_000 },
    { row: 0, column: 1, bytes: null },
  ]);
});

test("wide rows of long values fill no more than an answer", async () => {
  const columns = Array.from({ length: 1_600 }, (_, index) => `repeat('x', 1000) as c${index}`).join(", ");
  const response = await queries.answer(`select ${columns} from generate_series(1, 1000)`);
  expect(response.status).toBe(200);
  expect(response.body.data.columns.length).toBe(1_600);
  expect(response.body.data.truncated).toBe(true);
  expect(JSON.stringify(response.body).length).toBeLessThan(5 * MEBIBYTE);
});

test("notices beyond number are counted out, and endless notices end the statement", async () => {
  const few = await queries.result("do $$ begin for i in 1..1000 loop raise notice '%', i; end loop; end $$");
  expect(few.notices.length).toBe(20);
  const { body } = await queries.answer(
    "do $$ begin loop raise notice '%', repeat('x', 100000); end loop; end $$",
  );
  expect(body.data.truncated).toBe(true);
  await until("the engine has ended it", async () => (await running()) === 0);
});

test("a result too large to show rolls back what the statement wrote", async () => {
  const { status, body } = await queries.answer(
    "insert into notes select n, repeat('x', 1000000) from generate_series(100, 130) n returning *",
    { read_only: false },
  );
  expect([status, body.message]).toEqual([
    422,
    "The result is larger than 16 MiB. The statement was canceled, and its transaction rolled back.",
  ]);
  expect((await queries.result("select count(*) from notes")).rows).toEqual([["1"]]);
});

test("the deadline ends the statement at the engine", async () => {
  const { status, body } = await queries.answer("select pg_sleep(1000)", { timeout_seconds: 1 });
  expect([status, body.message]).toEqual([422, "The statement was not done after 1 s and was canceled."]);
  await until("the engine has ended it", async () => (await running()) === 0);
});

test("a caller that goes away ends the statement at the engine", async () => {
  const caller = new AbortController();
  const answer = queries.send("select pg_sleep(1000)", caller.signal).catch(() => "gone");
  await until("the statement runs", async () => (await running()) === 1);
  caller.abort();
  expect(await answer).toBe("gone");
  await until("the engine has ended it", async () => (await running()) === 0);
});

test("statements beyond the number at a time are refused, and the others go on", async () => {
  const callers = Array.from({ length: 4 }, () => new AbortController());
  const answers = callers.map(({ signal }) =>
    queries.send("select pg_sleep(1000)", signal).catch(() => undefined),
  );
  await until("all statements run", async () => (await running()) === 4);
  const refused = await queries.answer("select 1");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  for (const caller of callers) caller.abort();
  await Promise.all(answers);
  await until("the slots are free", async () => (await queries.answer("select 1")).status === 200);
});

test("a sleeping cluster is woken", async () => {
  await client.end();
  expect((await pilvi.api("POST", `/databases/clusters/${cluster.id}/suspend`)).status).toBe(200);
  expect((await queries.result("select count(*) from notes")).rows).toEqual([["1"]]);
  client = await connectPg(cluster);
});

test("bodies that do not fit are refused, and name the field", async () => {
  for (const [members, field] of [
    [{ statement: "" }, "statement"],
    [{ statement: "select '\0'" }, "statement"],
    [{ statement: "x".repeat(100_001) }, "statement"],
    [{ max_rows: 0 }, "max_rows"],
    [{ max_rows: 5_001 }, "max_rows"],
    [{ timeout_seconds: 51 }, "timeout_seconds"],
    [{ read_only: "no" }, "read_only"],
  ] as const) {
    const { status, body } = await queries.answer("select 1", members);
    expect([status, Object.keys(body.errors ?? {})]).toEqual([422, [field]]);
  }
});

test("a token that may not see credentials cannot run statements", async () => {
  const { body } = await pilvi.api<{ data: { attributes: { token: string } } }>("POST", "/tokens", {
    name: "reader",
    abilities: ["databases:read", "databases:write"],
  });
  const refused = await queries.answer(
    "select 1",
    {},
    { authorization: `Bearer ${body.data.attributes.token}` },
  );
  expect([refused.status, refused.body.message]).toEqual([
    403,
    "This action is unauthorized. It needs the ability `databases:credentials`.",
  ]);
});

test("the activity notes that statements ran, and neither it nor the log has their text", async () => {
  await queries.result("select 'secret-of-the-statement'");
  await queries.answer("select secret_of_the_statement");
  const { body } = await pilvi.api<{ data: { attributes: Record<string, unknown> }[] }>("GET", "/activity");
  expect(body.data[0]?.attributes).toMatchObject({
    action: "query",
    kind: "databases",
    resource_id: cluster.id,
    details: { database: "main", read_only: true },
  });
  expect(JSON.stringify(body)).not.toContain("of-the-statement");
  expect(pilvi.log()).not.toMatch(/secret.of.the.statement/);
});
