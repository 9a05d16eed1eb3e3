// The parts of resources in a real browser: lists longer than a page, deletions by name, and lists that cannot be read.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { openStore } from "../../crash/inspection.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

/** More than the API has on a page. */
const MANY = 101;

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
let cluster: string;
let server: string;
let application: string;

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  const [ordered, sockets] = await Promise.all([
    createCluster(pilvi, { name: "orders" }),
    createServer(pilvi, { name: "chat" }),
  ]);
  [cluster, server, application] = [ordered.id, sockets.id, sockets.main.id];
  await pilvi.api("POST", `/databases/clusters/${cluster}/databases`, { name: "reports" });
  await pilvi.api("POST", `/websocket-servers/${server}/applications`, { name: "second" });
  window = await ConsolePage.open(served.chromium, pilvi.url);
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

/** A section of the page by its heading. */
function section(name: string): Locator {
  const heading = window.page.getByRole("heading", { name, exact: true });
  return window.page.locator("section", { has: heading });
}

/** The names of the parts that the API lists at the path. */
async function namesAt(path: string): Promise<string[]> {
  const { body } = await pilvi.api<{ data: { attributes: { name: string } }[] }>("GET", path);
  return body.data.map(({ attributes }) => attributes.name);
}

/** Deletes a part by its button, and checks that nothing but its whole name frees the deletion. */
async function deleteByName(name: string): Promise<void> {
  const { page } = window;
  await page.getByRole("button", { name: `Delete ${name}`, exact: true }).click();
  // A notice is a dialog as well.
  const dialog = page.getByRole("dialog", { name: /^Delete / });
  const verb = dialog.getByRole("button", { name: "Delete", exact: true });
  const field = page.getByLabel(`Type ${name} to confirm`);
  await verb.waitFor();
  expect(await verb.isDisabled()).toBe(true);
  await field.fill(name.slice(0, -1));
  await field.press("Enter");
  expect(await verb.isDisabled()).toBe(true);
  await field.fill(name);
  expect(await window.accessibilityFaults()).toEqual([]);
  await verb.click();
  await dialog.waitFor({ state: "detached" });
}

test("a database is deleted once its name was typed", async () => {
  await window.goto(`/databases/${cluster}`);
  const line = section("Databases").locator("li", { hasText: "reports" });
  await line.locator('[data-status="available"]').waitFor();
  await deleteByName("reports");
  await line.waitFor({ state: "detached" });
  const path = `/databases/clusters/${cluster}/databases`;
  await until("the database is gone", async () => (await namesAt(path)).join() === "main");
});

test("an application is deleted once its name was typed", async () => {
  await window.goto(`/websockets/${server}`);
  await section("Application second").waitFor();
  await deleteByName("second");
  await section("Application second").waitFor({ state: "detached" });
  expect(await namesAt(`/websocket-servers/${server}/applications`)).toEqual(["main"]);
});

/** The sections with lists, the page of each, and the request that reads the list. */
const LISTS: [title: string, path: () => string, request: string][] = [
  ["Databases", () => `/databases/${cluster}`, "**/api/databases/clusters/*/databases*"],
  ["Applications", () => `/websockets/${server}`, "**/api/websocket-servers/*/applications*"],
  ["Invitations", () => "/settings/members", "**/api/invitations*"],
  ["New token", () => "/settings/tokens", "**/api/tokens/abilities*"],
  ["Latest events", () => "/", "**/api/events?per_page=100"],
];

test.each(LISTS)(
  "the section %s says why its list cannot be read, and tries again",
  async (title, path, request) => {
    const { page } = window;
    const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>();
    await page.route(request, async (route) => {
      await isAnswered;
      await route.fulfill({ status: 422, json: { message: "No list today." } });
    });
    await window.goto(path());
    await section(title).getByRole("status", { name: "Loading" }).waitFor();
    answer();
    const failure = section(title).getByRole("alert").filter({ hasText: "No list today." });
    await failure.waitFor();
    expect(await section(title).getByRole("status", { name: "Loading" }).count()).toBe(0);
    await page.unroute(request);
    await failure.getByRole("button", { name: "Try again" }).click();
    await failure.waitFor({ state: "detached" });
  },
);

test("the debug page says why its application cannot be read", async () => {
  const { page } = window;
  const request = "**/api/websocket-servers/*/applications*";
  await page.route(request, (route) => route.fulfill({ status: 422, json: { message: "No list today." } }));
  await window.goto(`/websockets/${server}/applications/${application}/debug`);
  await page.getByText("No list today.").waitFor();
  await page.unroute(request);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Debug main", level: 1 }).waitFor();
  expect(await page.getByText("No list today.").count()).toBe(0);
});

test("databases on all pages of the list are shown", async () => {
  const store = await openStore(pilvi);
  // As rows alone: an engine would take long to make them.
  await store`
    insert into database_schemas (id, database_id, name, status)
    select 'schema-zz' || lpad(number::text, 3, '0'), ${cluster}, 'extra_' || number, 'available'
    from generate_series(1, ${MANY}::int) number`;
  await store.close();
  await window.goto(`/databases/${cluster}`);
  await section("Databases").getByText(`extra_${MANY}`, { exact: true }).waitFor();
  expect(await section("Databases").locator("li").count()).toBe(MANY + 1);
});

/** The value of a parameter of the page's address. */
function inAddress(name: string): string | null {
  return new URL(window.page.url()).searchParams.get(name);
}

test("the search and the filter of databases live in the address", async () => {
  const { page } = window;
  const store = await openStore(pilvi);
  await store`update database_schemas set status = 'creating' where name in ('extra_7', 'extra_70')`;
  await store.close();
  await window.goto(`/databases/${cluster}?metrics=table`);
  const lines = section("Databases").locator("li");
  await page.getByLabel("Search by name or id").fill("extra_7");
  await page.getByText(`11 of ${MANY + 1}`, { exact: true }).waitFor();
  await page.getByLabel("Filter by status").selectOption("creating");
  await page.getByText(`2 of ${MANY + 1}`, { exact: true }).waitFor();
  expect([inAddress("q"), inAddress("status"), inAddress("metrics")]).toEqual([
    "extra_7",
    "creating",
    "table",
  ]);
  await page.reload();
  await page.getByText(`2 of ${MANY + 1}`, { exact: true }).waitFor();
  expect(await page.getByLabel("Search by name or id").inputValue()).toBe("extra_7");
  expect(await window.faultsInAllLooks("databases-searched")).toEqual([]);
  await page.getByLabel("Search by name or id").fill("schema-zz007");
  await page.getByText(`1 of ${MANY + 1}`, { exact: true }).waitFor();
  expect(await lines.count()).toBe(1);
  await page.getByLabel("Search by name or id").fill("nothing like it");
  await page.getByText("Nothing fits the search and the filters.").waitFor();
});

test("many applications are lines that open, and their search lives in the address", async () => {
  const { page } = window;
  const path = `/websocket-servers/${server}/applications`;
  for (const number of [1, 2, 3, 4, 5])
    expect((await pilvi.api("POST", path, { name: `shop-${number}` })).status).toBe(201);
  const { body } = await pilvi.api<{ data: { id: string; attributes: { name: string; key: string } }[] }>(
    "GET",
    path,
  );
  const third = body.data.find(({ attributes }) => attributes.name === "shop-3");
  await window.goto(`/websockets/${server}`);
  const list = page.getByRole("list", { name: "Applications" });
  await list.getByRole("button", { name: /^shop-5/ }).waitFor();
  expect(await list.locator("li").count()).toBe(6);
  const opened = page.getByRole("heading", { name: "Application shop-3", exact: true });
  expect(await opened.count()).toBe(0);
  await list.getByRole("button", { name: /^shop-3/ }).click();
  await opened.waitFor();
  expect(inAddress("application")).toBe(third?.id ?? "");
  expect(await window.faultsInAllLooks("applications")).toEqual([]);
  await page.reload();
  await opened.waitFor();
  const search = page.getByLabel("Search by name, id or key");
  await search.fill("shop");
  await page.getByText("5 of 6", { exact: true }).waitFor();
  expect(inAddress("q")).toBe("shop");
  await search.fill(third?.attributes.key ?? "");
  await page.getByText("1 of 6", { exact: true }).waitFor();
  await opened.waitFor();
  await search.fill("nothing like it");
  await page.getByText("Nothing fits the search and the filters.").waitFor();
});
