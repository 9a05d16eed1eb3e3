// Pages that no other test shows, and open lists in which what others make appears: both in every look.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner, OWNER } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { type TestPilvi } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

const PHONE = { width: 390, height: 844 };

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  window = await ConsolePage.open(served.chromium, pilvi.url);
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function heading(name: string): Promise<void> {
  await window.page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

/** What a reload would forget. */
const mark = () => window.page.evaluate("window.mark = 'kept'");
const marked = () => window.page.evaluate("window.mark");

async function appears(name: string): Promise<void> {
  const row = window.page.getByRole("listitem").filter({ hasText: name });
  await row.locator('[data-status="available"]').waitFor();
}

test("a database cluster that the API makes appears in the open list and becomes available", async () => {
  await window.goto("/databases");
  await heading("Databases");
  await window.page.getByText("No database clusters yet").waitFor();
  await mark();
  await createCluster(pilvi, { name: "orders" });
  await appears("orders");
  await createCluster(pilvi, { name: "reports", type: "platform_mysql" });
  await appears("reports");
  expect(await marked()).toBe("kept");
  faults.push(...(await window.faultsInAllLooks("databases")));
});

test("a WebSocket cluster that the API makes appears in the open list and becomes available", async () => {
  await window.goto("/websockets");
  await heading("WebSockets");
  faults.push(...(await window.faultsInAllLooks("websockets-empty")));
  await mark();
  await createServer(pilvi, { name: "chat" });
  await appears("chat");
  await createServer(pilvi, { name: "scores" });
  await appears("scores");
  expect(await marked()).toBe("kept");
  faults.push(...(await window.faultsInAllLooks("websockets")));
});

test("the log of a cache and that of a WebSocket cluster are shown", async () => {
  const cache = await pilvi.createCache({ name: "sessions" });
  await window.goto(`/caches/${cache.id}/logs`);
  await window.page
    .getByText(/Ready to accept connections/i)
    .first()
    .waitFor();
  faults.push(...(await window.faultsInAllLooks("cache-logs")));
  const server = await createServer(pilvi, { name: "news" });
  await window.goto(`/websockets/${server.id}/logs`);
  await window.page.getByText(/^Live, [1-9]\d* lines?$/).waitFor();
  faults.push(...(await window.faultsInAllLooks("websocket-logs")));
});

test("an address that leads nowhere says so, and a resource that is gone as well", async () => {
  await window.goto("/no/such/page");
  await heading("There is no such page");
  faults.push(...(await window.faultsInAllLooks("not-found")));
  await window.goto("/caches/cache-gone");
  await heading("No such cache");
  faults.push(...(await window.faultsInAllLooks("resource-gone")));
});

test("a page whose code cannot be loaded says so, and is loaded by another attempt", async () => {
  await window.goto("/caches");
  await heading("Caches");
  await window.page.route("**/assets/part-*.js", (route) => route.abort());
  await window.page.getByRole("link", { name: "Members" }).click();
  await heading("Something went wrong");
  faults.push(...(await window.faultsInAllLooks("error")));
  await window.page.unroute("**/assets/part-*.js");
  await window.page.getByRole("button", { name: "Try again" }).click();
  await heading("Members");
});

test("the menu of the account, the menu of a phone, and the palette with results are shown", async () => {
  await window.goto("/");
  await heading("Overview");
  await window.page.getByRole("button", { name: OWNER.email }).click();
  await window.page.getByRole("menuitem", { name: "Sign out" }).waitFor();
  faults.push(...(await window.faultsInAllLooks("account-menu")));
  await window.page.keyboard.press("Escape");
  await window.page.setViewportSize(PHONE);
  await window.page.getByRole("button", { name: "Open the menu" }).click();
  await window.page.getByRole("link", { name: "Usage" }).waitFor();
  faults.push(...(await window.faultsInAllLooks("phone-menu")));
  await window.page.keyboard.press("Control+k");
  await window.page.getByRole("combobox").fill("re");
  await window.page.getByRole("option", { name: /reports/ }).waitFor();
  faults.push(...(await window.faultsInAllLooks("palette-results")));
});

test("the keyboard opens the menu of the account, whose code is loaded for that, and leaves it", async () => {
  await window.page.setViewportSize({ width: 1280, height: 800 });
  await window.goto("/");
  await heading("Overview");
  const { page } = window;
  await page.getByRole("button", { name: OWNER.email }).focus();
  await page.keyboard.press("ArrowDown");
  await page.getByRole("menu").waitFor();
  await page.keyboard.press("End");
  await page.locator('[role="menuitem"]:focus', { hasText: "Sign out" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("button:focus", { hasText: OWNER.email }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Sign out" }).waitFor();
  await page.keyboard.press("Escape");
});

test("axe-core finds no fault in any page, theme and width", () => {
  expect(faults).toEqual([]);
});
