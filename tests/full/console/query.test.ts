// The query page in a real browser: statements, faults at their place, cancels, big results, the history, and readers
// who may not see credentials.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  firstOf,
  firstOfMysql,
  MYSQL,
} from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
let cluster: DatabaseClusterResource;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  cluster = await createCluster(pilvi);
  await sql("create table customers (id int primary key, email text, note text)");
  await sql(
    "insert into customers select n, 'user' || n || '@example.com', repeat('note ', n % 40) from generate_series(1, 900) n",
  );
  window = await ConsolePage.open(served.chromium, pilvi.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

/** Runs a statement without the console. */
async function sql(statement: string): Promise<unknown> {
  const client = await connectPg(cluster);
  try {
    return await firstOf(client, statement);
  } finally {
    await client.end();
  }
}

const statement = () => window.page.getByRole("textbox", { name: "Statement" });
const grid = () => window.page.getByRole("grid", { name: "Result" });
const cell = (name: string) => grid().getByRole("gridcell", { name, exact: true });

/** Types a statement and runs it by the keyboard alone. */
async function run(text: string): Promise<void> {
  await statement().press("Control+a");
  await window.page.keyboard.insertText(text);
  await window.page.keyboard.press("Control+Enter");
}

test("the page of a cluster leads to its query page, which has no fault when nothing was run", async () => {
  await window.goto(`/databases/${cluster.id}`);
  await window.page.getByRole("link", { name: "Query" }).click();
  await window.page.getByRole("heading", { name: "Query", level: 1 }).waitFor();
  await window.page.getByText("Nothing was run here yet.").waitFor();
  expect(await window.page.getByLabel("Read-only").isChecked()).toBe(true);
  faults.push(...(await window.faultsInAllLooks("query-empty")));
});

test("a statement is run by the keyboard, and its rows are shown with NULL apart from text", async () => {
  await run(
    "select id, email, null as gone, '' as empty\nfrom customers -- all of them\nwhere id < 3 and email <> 'x' order by id",
  );
  await cell("user2@example.com").waitFor();
  await window.page.getByText(/^SELECT · 2 rows · [\d.]+ ms$/).waitFor();
  expect(await cell("NULL").count()).toBe(2);
  faults.push(...(await window.faultsInAllLooks("query-result")));
});

test("the rows are copied as CSV", async () => {
  await window.page.getByRole("button", { name: "Copy as CSV" }).click();
  await window.page.getByText("The rows are copied as CSV.").waitFor();
  expect(await window.page.evaluate("navigator.clipboard.readText()")).toBe(
    'id,email,gone,empty\r\n1,user1@example.com,,""\r\n2,user2@example.com,,""\r\n',
  );
});

test("a fault is shown with its code, and the cursor is led to its place", async () => {
  await run("select 'ä😀', missing from customers");
  const alert = window.page.getByRole("alert");
  await alert.getByText('column "missing" does not exist').waitFor();
  await alert.getByText("Code 42703 · at character 14").waitFor();
  expect(await window.page.locator(".cm-fault").textContent()).toBe("missing");
  faults.push(...(await window.faultsInAllLooks("query-fault")));
});

test("a statement that writes is refused until writing is allowed", async () => {
  await run("delete from customers where id = 900");
  await window.page.getByText("cannot execute DELETE in a read-only transaction").waitFor();
  await window.page.getByLabel("Read-only").uncheck();
  await run("delete from customers where id = 900");
  await window.page.getByText(/^DELETE · 1 row · /).waitFor();
  expect(await sql("select count(*) from customers")).toBe("899");
  await window.page.getByLabel("Read-only").check();
});

test("of many rows only those in sight are in the page, and the keyboard reaches the last", async () => {
  await run("select id, email, note from customers order by id");
  await window.page.getByText(/899 rows/).waitFor();
  expect(await grid().getByRole("row").count()).toBeLessThan(60);
  await grid().focus();
  for (let page = 0; page < 90; page++) await window.page.keyboard.press("PageDown");
  await cell("user899@example.com").waitFor();
  await window.page.keyboard.press("ArrowRight");
  await window.page.keyboard.press("Enter");
  await window.page.getByLabel("value of email").getByText("user899@example.com").waitFor();
  faults.push(...(await window.faultsInAllLooks("query-many")));
});

test("a result of many columns is drawn in part, and rows beyond the bound are said to be left out", async () => {
  const columns = Array.from({ length: 600 }, (_, index) => `${index} as c${index}`).join(", ");
  await run(`select ${columns} from generate_series(1, 2000)`);
  await window.page.getByText(/the first \d+ rows/).waitFor();
  expect(await grid().getByRole("columnheader").count()).toBeLessThan(60);
  await grid().focus();
  await window.page.keyboard.press("End");
  await grid().getByRole("columnheader", { name: "c599" }).waitFor();
});

test("cancel ends the statement at the engine", async () => {
  const sleepers =
    "select count(*) from pg_stat_activity where query = 'select pg_sleep(500)' and state = 'active'";
  await run("select pg_sleep(500)");
  await until("the statement runs", async () => (await sql(sleepers)) === "1");
  await window.page.getByRole("button", { name: "Cancel" }).click();
  await window.page.getByText("The statement was canceled.").waitFor();
  await until("the engine has ended it", async () => (await sql(sleepers)) === "0");
});

test("the editor completes the names of tables and columns", async () => {
  await statement().press("Control+a");
  await window.page.keyboard.type("select * from cust", { delay: 20 });
  await window.page.getByRole("option", { name: "customers" }).waitFor();
  faults.push(...(await window.faultsInAllLooks("query-completion")));
  await window.page.keyboard.press("Escape");
});

test("the history outlives a reload, brings a statement back, and can be cleared", async () => {
  await window.page.reload();
  await window.page.getByRole("button", { name: "delete from customers where id = 900" }).click();
  await statement().getByText("delete from customers where id = 900").waitFor();
  await window.page.getByRole("button", { name: "Clear history" }).click();
  await window.page.getByText("Nothing was run here yet.").waitFor();
  await window.page.reload();
  await window.page.getByText("Nothing was run here yet.").waitFor();
});

test("a cell that holds markup is shown as text", async () => {
  await run("select '<img src=x onerror=alert(1)>' as evil, '<b>' as \"<i>\"");
  await cell("<img src=x onerror=alert(1)>").waitFor();
  await grid().getByRole("columnheader", { name: "<i>" }).waitFor();
});

test("the page of a MySQL runs statements, shows faults, and refuses to write until that is allowed", async () => {
  const mysql = await createCluster(pilvi, { type: MYSQL });
  await window.goto(`/databases/${mysql.id}/query`);
  await window.page.getByText("Nothing was run here yet.").waitFor();
  await run("select 42 as answer, null as gone, 'ä😀' as text");
  await cell("42").waitFor();
  await cell("ä😀").waitFor();
  expect(await cell("NULL").count()).toBe(1);
  await run("create table notes (id int primary key)");
  await window.page.getByRole("alert").getByText("Allow writing to run it.").waitFor();
  await window.page.getByLabel("Read-only").uncheck();
  await run("create table notes (id int primary key)");
  const connection = await connectMysql(mysql);
  await until("the table is there", async () => {
    return (
      (await firstOfMysql(
        connection,
        "select count(*) from information_schema.tables where table_schema = 'main'",
      )) === 1
    );
  });
  await connection.end();
  await window.page.getByRole("button", { name: "Cancel" }).waitFor({ state: "detached" });
  await run("select table_name from information_schema.tables where table_schema = database()");
  await cell("notes").waitFor();
  await run("select missing from notes");
  await window.page.getByRole("alert").getByText("Code 1054").waitFor();
  await run("select sleep(500)");
  await window.page.getByRole("button", { name: "Cancel" }).click();
  await window.page.getByText("The statement was canceled.").waitFor();
  faults.push(...(await window.faultsInAllLooks("query-mysql")));
});

test("axe-core finds no fault in any look of the page", () => {
  expect(faults).toEqual([]);
});

test("the page asks no other host, and breaks no rule of its policy", () => {
  expect(window.foreign).toEqual([]);
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
