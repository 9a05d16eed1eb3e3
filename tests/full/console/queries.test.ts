// The page of a database cluster's queries in a real browser: statements of a real client are shown, stopped and counted.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "pg";
import type { DatabaseClusterResource } from "../../../src/resources/databases/schema.ts";
import { startChromium, type TestBrowser } from "../../support/clients/chromium.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { connectPg, createCluster } from "../../support/pilvi/databases.ts";
import { startPilvi, type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const START_MS = 240_000;
/** Markup that runs a script where it is not shown as text. */
const HOSTILE = "<img src=x onerror=document.title=1>";

let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;
let cluster: DatabaseClusterResource;
let client: Client;
let path: string;
const faults: string[] = [];

beforeAll(async () => {
  [pilvi, chromium] = await Promise.all([startPilvi(), startChromium()]);
  cluster = await createCluster(pilvi);
  path = `/databases/${cluster.id}/queries`;
  await until("the console is built", async () => (await fetch(pilvi.url)).status === 200);
  window = await ConsolePage.open(chromium, pilvi.url);
  await makeOwner(window, pilvi);
  client = await connectPg(cluster, { application_name: "shop worker" });
}, START_MS);

afterAll(async () => {
  await client.end();
  await chromium.close();
  await pilvi.close();
});

const running = () => window.page.getByRole("list", { name: "Running queries" }).getByRole("listitem");

/** Presses the button of the dialog that is open. */
async function confirm(name: string): Promise<void> {
  await window.page.getByRole("dialog").getByRole("button", { name }).click();
}

test("the cluster's page leads to its queries, where nothing runs yet", async () => {
  await window.goto(`/databases/${cluster.id}`);
  await window.page.getByRole("link", { name: "Show queries" }).click();
  await window.page.getByRole("heading", { name: "Queries", level: 1 }).waitFor();
  await window.page.getByText("Nothing runs at the moment.").waitFor();
});

test("a statement under way appears by itself as text, and is stopped after a question", async () => {
  const outcome = client.query(`select pg_sleep(600), '${HOSTILE}'`).catch(String);
  await running().getByText(HOSTILE).waitFor();
  await running().getByText("app in main · shop worker").waitFor();
  faults.push(...(await window.faultsInAllLooks("queries")));
  await running().getByRole("button", { name: "Stop the statement" }).click();
  await window.page.getByRole("dialog", { name: "Stop this statement?" }).waitFor();
  faults.push(...(await window.faultsInAllLooks("queries-question")));
  await confirm("Stop the statement");
  expect(await outcome).toContain("canceling statement due to user request");
  await window.page.getByText("Nothing runs at the moment.").waitFor();
  expect(await window.page.title()).toBe("Queries · Pilvi");
});

test("slow statements are ordered by each of their figures, and the order is in the address", async () => {
  await client.query("create table orders as select generate_series(1, 2000) as id, 'open' as state");
  for (let id = 1; id < 20; id++) await client.query(`select * from orders where id = ${id}`);
  await client.query("select pg_sleep(0.2)");
  await window.goto(path);
  const table = window.page.getByRole("region", { name: "Slow statements" });
  await table.getByText("select * from orders where id = $1").waitFor();
  await table.getByRole("button", { name: "Calls" }).click();
  await table.locator('th[aria-sort="descending"]', { hasText: "Calls" }).waitFor();
  await until("the order is that of calls", async () =>
    (await table.getByRole("row").nth(1).innerText()).includes("select * from orders"),
  );
  expect(new URL(window.page.url()).searchParams.get("sort")).toBe("calls");
  faults.push(...(await window.faultsInAllLooks("statements")));
  await window.page.getByRole("button", { name: "Reset the figures" }).click();
  await confirm("Reset");
  await until("the figures are gone", async () => (await table.getByText("orders").count()) === 0);
});

test("an idle session is shown when asked for, and is ended", async () => {
  const other = await connectPg(cluster, { application_name: "forgotten" });
  const ended = new Promise<void>((resolve) => other.on("end", resolve));
  await window.page.getByLabel("Idle sessions as well").check();
  const row = running().filter({ hasText: "forgotten" });
  await row.getByRole("button", { name: "End session" }).click();
  await confirm("End the session");
  await ended;
  await row.waitFor({ state: "detached" });
});

test("an answer that fails is shown with another attempt", async () => {
  const pattern = "**/api/databases/clusters/*/queries*";
  await window.page.route(pattern, (route) =>
    route.fulfill({ status: 409, json: { message: "It is busy." } }),
  );
  await window.page.getByText("It is busy.").waitFor();
  faults.push(...(await window.faultsInAllLooks("queries-failed")));
  // The page tries again by itself as well, and the button goes with the first answer that succeeds.
  const again = window.page.waitForRequest(pattern);
  await window.page.getByRole("button", { name: "Try again" }).click();
  await again;
  await window.page.unroute(pattern);
  await window.page.getByText("It is busy.").waitFor({ state: "detached" });
});

test("a viewer sees queries, and has no button to end any", async () => {
  const { body } = await pilvi.api<{ data: { attributes: { link: string } } }>("POST", "/invitations", {
    role: "viewer",
  });
  const { pathname, hash } = new URL(body.data.attributes.link);
  const viewer = await ConsolePage.open(chromium, pilvi.url);
  await viewer.goto(pathname + hash);
  await viewer.page.getByLabel("Your name").fill("Bob");
  await viewer.page.getByLabel("E-mail").fill("bob@example.com");
  await viewer.page.getByLabel("Password").fill("another good password");
  await viewer.page.getByRole("button", { name: "Accept" }).click();
  await viewer.page.getByRole("heading", { name: "Overview" }).waitFor();
  await viewer.goto(`${path}?idle=true`);
  await viewer.page.getByText("shop worker").waitFor();
  expect(await viewer.page.getByRole("button", { name: /End session|Stop|Reset/ }).count()).toBe(0);
  await viewer.close();
});

test("a cluster that falls asleep says so, and looking does not wake it", async () => {
  await client.end();
  const { status } = await pilvi.api("POST", `/databases/clusters/${cluster.id}/suspend`);
  expect(status).toBe(200);
  await window.goto(path);
  await window.page.getByText("Nothing runs in it.").waitFor();
  await window.page.getByText("The figures are kept").waitFor();
  faults.push(...(await window.faultsInAllLooks("queries-asleep")));
  const { body } = await pilvi.api<{ data: DatabaseClusterResource }>(
    "GET",
    `/databases/clusters/${cluster.id}`,
  );
  expect(body.data.meta.sleep.state).toBe("asleep");
});

test("axe-core finds no fault, no page asks another host, and none writes an error", () => {
  expect(faults).toEqual([]);
  expect(window.foreign).toEqual([]);
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
