// The pages of the backups of database clusters in a real browser: instants on a line of time, snapshots, deleted clusters.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import {
  button,
  heading,
  inDialog,
  openedId,
  snapshotLine,
  untilShown,
} from "../../support/console/backup-pages.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { faultAt } from "../../support/console/forms.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import {
  connectMysql,
  connectPg,
  createCluster,
  createDatabase,
  deleteDatabase,
  firstOf,
  firstOfMysql,
  MYSQL,
  untilCluster,
} from "../../support/pilvi/databases.ts";
import { Failpoints, type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { clone } from "../../support/pilvi/refreshes.ts";

const failpoints = new Failpoints();
let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole({ env: failpoints.env });
  ({ pilvi } = served);
  window = await ConsolePage.open(served.chromium, pilvi.url);
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => {
  failpoints.release();
  await served.close();
  failpoints.close();
});

let orders: DatabaseClusterResource;
const slider = () => window.page.getByRole("slider");
const field = () => window.page.getByLabel("Instant", { exact: true });

async function clusterNames(): Promise<string[]> {
  const { body } = await pilvi.api<{ data: DatabaseClusterResource[] }>("GET", "/databases/clusters");
  return body.data.map(({ attributes }) => attributes.name);
}

/** Runs a statement in the database `main` of a cluster. */
async function run(cluster: DatabaseClusterResource, sql: string): Promise<unknown> {
  const client = await connectPg(cluster);
  try {
    return await firstOf(client, sql);
  } finally {
    await client.end();
  }
}

test("a cluster gets its window by a click, and shows what happened in it", async () => {
  orders = await createCluster(pilvi, { name: "orders", config: { suspend_seconds: 0 } });
  await window.goto(`/databases/${orders.id}/backups`);
  await button(window, "Keep each instant of 7 days").click();
  await window.page.getByRole("heading", { name: "Restore an instant" }).waitFor();
  await run(orders, "create table kept (id int)");
  await run(orders, "insert into kept select generate_series(1, 100)");
  const reports = await createDatabase(pilvi, orders.id, "reports");
  await deleteDatabase(pilvi, orders.id, reports);
  await run(orders, "drop table kept");
  await window.page.getByText("The database reports is being deleted.").waitFor();
  await window.page.getByText("Log is behind by").waitFor();
});

test("the instant just before an event is chosen by a click, and moved by the keyboard and in words", async () => {
  await button(window, "Choose the instant just before: The database reports is being deleted.").click();
  const chosen = await field().inputValue();
  expect(await slider().getAttribute("aria-valuetext")).toBe(chosen);
  await slider().focus();
  await window.page.keyboard.press("Home");
  const first = await field().inputValue();
  await window.page.keyboard.press("ArrowRight");
  expect(Date.parse(await field().inputValue()) - Date.parse(first)).toBe(1_000);
  await field().fill("next week");
  await window.page.getByText(/Write a time such as/).waitFor();
  expect(await button(window, "Restore this instant").isDisabled()).toBe(true);
  await field().fill("9 days ago");
  await window.page.getByText(/^Instants from .* can be restored/).waitFor();
  const { x = 0, y = 0, width = 0 } = (await slider().boundingBox()) ?? {};
  await window.page.mouse.move(x + width / 4, y + 20);
  await window.page.mouse.down();
  await window.page.mouse.move(x + width / 2, y + 20, { steps: 5 });
  await window.page.mouse.up();
  const [least, value, most] = await Promise.all(
    ["aria-valuemin", "aria-valuenow", "aria-valuemax"].map(async (name) =>
      Number(await slider().getAttribute(name)),
    ),
  );
  expect(((value ?? 0) - (least ?? 0)) / ((most ?? 0) - (least ?? 0))).toBeCloseTo(0.5, 0);
  await button(window, "Choose the instant just before: The database reports is being deleted.").click();
  expect(await field().inputValue()).toBe(chosen);
  faults.push(...(await window.faultsInAllLooks("backups-instant")));
});

test("a restore under a wrong name is refused at the name, and makes nothing", async () => {
  const before = await clusterNames();
  const name = window.page.getByLabel("Name of the new database cluster", { exact: true });
  const proposed = await name.inputValue();
  await name.fill("Bad Name");
  await button(window, "Restore this instant").click();
  expect(await faultAt(name, "the name")).not.toBe("");
  faults.push(...(await window.faultsInAllLooks("restore-refused")));
  expect(await clusterNames()).toEqual(before);
  await name.fill(proposed);
});

test("a restore shows how far it is, and the new cluster has the data of the instant", async () => {
  failpoints.arm("host.restore.unpacked");
  await button(window, "Restore this instant").click();
  const id = await openedId(window, "orders-restored");
  await failpoints.reached();
  await window.page.getByText(/B of .*B\./).waitFor();
  faults.push(...(await window.faultsInAllLooks("restore-progress")));
  failpoints.release();
  await untilShown(window, "available");
  const restored = await untilCluster(pilvi, id, "available");
  expect(await run(restored, "select count(*)::int from kept")).toBe(100);
  expect(await run(restored, "select count(*)::int from pg_database where datname = 'reports'")).toBe(1);
});

test("a restore is cancelled after a question, and leaves nothing", async () => {
  await window.goto(`/databases/${orders.id}/backups`);
  failpoints.arm("host.restore.planned");
  await button(window, "Restore this instant").click();
  const id = await openedId(window, "orders-restored");
  await failpoints.reached();
  await button(window, "Cancel the restore").click();
  await inDialog(window, "Cancel the restore").click();
  await heading(window, "Databases");
  failpoints.release();
  const answer = await pilvi.api("GET", `/databases/clusters/${id}?wait=deleted`);
  expect(answer.status).toBe(404);
});

test("a deleted cluster is brought back under its name, until its backups are deleted as well", async () => {
  const { page } = window;
  await run(orders, "create table latest (id int)");
  await window.goto(`/databases/${orders.id}`);
  await button(window, "Delete this database cluster").click();
  await page
    .getByRole("dialog")
    .getByText(/offers to bring it back/)
    .waitFor();
  await page.getByLabel("Type orders to confirm").fill("orders");
  await inDialog(window, "Delete").click();
  await heading(window, "Databases");
  await button(window, "Bring back orders").waitFor();
  faults.push(...(await window.faultsInAllLooks("databases-deleted")));
  await button(window, "Bring back orders").click();
  await inDialog(window, "Bring back").click();
  const id = await openedId(window, "orders");
  expect(id).not.toBe(orders.id);
  await untilShown(window, "available");
  const again = await untilCluster(pilvi, id, "available");
  expect(await run(again, "select to_regclass('latest')::text")).toBe("latest");
  await window.goto(`/databases/${orders.id}/backups`);
  await heading(window, "orders");
  await slider().waitFor();
  await snapshotLine(window, "Scheduled snapshot").first().waitFor();
  expect(await button(window, "Make a snapshot").count()).toBe(0);
  await page.getByText("Last verified restore").waitFor();
  faults.push(...(await window.faultsInAllLooks("backups-deleted")));
  await window.goto("/databases");
  await button(window, "Delete the backups of orders").click();
  expect(await inDialog(window, "Delete").isDisabled()).toBe(true);
  await page.getByLabel("Type orders to confirm").fill("orders");
  await inDialog(window, "Delete").click();
  await button(window, "Bring back orders").waitFor({ state: "hidden" });
});

test("a clone gets the data of its parent again by its button, after a question", async () => {
  const parent = await createCluster(pilvi, { name: "catalog" });
  await run(parent, "create table books as select generate_series(1, 3) as id");
  const made = await clone(pilvi, parent.id);
  await run(parent, "insert into books values (4)");
  await run(made, "delete from books");
  await window.goto(`/databases/${made.id}`);
  failpoints.arm("refresh.built");
  await button(window, "Refresh").click();
  await inDialog(window, "Refresh").click();
  await failpoints.reached();
  await window.page.getByText(/serves its former data until the new data is whole/).waitFor();
  expect(await run(made, "select count(*)::int from books")).toBe(0);
  faults.push(...(await window.faultsInAllLooks("database-refreshing")));
  failpoints.release();
  await untilShown(window, "available");
  expect(await run(await untilCluster(pilvi, made.id, "available"), "select count(*)::int from books")).toBe(
    4,
  );
  await window.goto(`/databases/${parent.id}`);
  await heading(window, "catalog");
  expect(await button(window, "Refresh").count()).toBe(0);
});

test("a snapshot of a MySQL is made and restored, and its schedule is turned on", async () => {
  const { page } = window;
  const source = await createCluster(pilvi, { type: MYSQL, name: "shop" });
  const before = await connectMysql(source);
  await before.query("create table kept (id int)");
  await before.query("insert into kept values (1), (2)");
  await before.end();
  await window.goto(`/databases/${source.id}/backups`);
  await page.getByLabel("Name of a new snapshot").fill("before-migration");
  await button(window, "Make a snapshot").click();
  await button(window, "Restore before-migration").click();
  const name = page.getByRole("dialog").getByLabel("Name of the new database cluster", { exact: true });
  await name.fill("Bad Name");
  await inDialog(window, "Restore").click();
  expect(await faultAt(name, "the name")).not.toBe("");
  await name.fill("shop-restored");
  await inDialog(window, "Restore").click();
  const id = await openedId(window, "shop-restored");
  await untilShown(window, "available");
  const after = await connectMysql(await untilCluster(pilvi, id, "available"));
  expect(await firstOfMysql(after, "select count(*) from kept")).toBe(2);
  await after.end();
  await window.goto(`/databases/${source.id}/backups`);
  await heading(window, "shop");
  await button(window, "Make a backup every day").waitFor();
  faults.push(...(await window.faultsInAllLooks("backups-mysql")));
  await button(window, "Make a backup every day").click();
  await page.getByText("The schedule of backups is on.").waitFor();
});

test("axe-core finds no fault in any look of the pages", () => {
  expect(faults).toEqual([]);
});

test("the pages ask no other host, and break no rule of their policy", () => {
  expect(window.foreign).toEqual([]);
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
