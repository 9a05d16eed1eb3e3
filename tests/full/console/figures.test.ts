// The figures of resources in a real browser: metrics as charts and as a table, the usage of a month, and activity.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ConsolePage } from "../../support/console/console-page.ts";
import { lastMonth, SLEEP, writeMetrics, writeUsage } from "../../support/console/history.ts";
import { makeOwner, OWNER } from "../../support/console/sign-in.ts";
import { TestApplication } from "../../support/pilvi/applications.ts";
import { createCluster, POSTGRES } from "../../support/pilvi/databases.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";
import { openStore } from "../../crash/inspection.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
let cache: string;
let cluster: string;
let server: string;
let application: TestApplication;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  const [made, ordered, sockets] = await Promise.all([
    pilvi.createCache({ uses_hibernation: true }),
    createCluster(pilvi, { type: POSTGRES, name: "orders" }),
    createServer(pilvi, { name: "chat" }),
  ]);
  [cache, cluster, server] = [made.id, ordered.id, sockets.id];
  const path = `/websocket-servers/${server}/applications`;
  const { body } = await pilvi.api<{ data: { id: string } }>("POST", path, { name: "second" });
  application = await TestApplication.create(pilvi);
  const { environmentId } = application;
  const { body: instances } = await pilvi.api<{ data: { id: string }[] }>(
    "GET",
    `/environments/${environmentId}/instances`,
  );
  const store = await openStore(pilvi);
  const ofEnvironment = [environmentId, instances.data[0]?.id ?? ""];
  await writeMetrics(store, [cache, cluster, server, body.data.id, ...ofEnvironment]);
  await writeUsage(store, [cache, cluster, server]);
  await store.close();
  window = await ConsolePage.open(served.chromium, pilvi.url, {
    timezoneId: "Australia/Adelaide",
    locale: "en-GB",
  });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function heading(name: string): Promise<void> {
  await window.page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

const charts = () => window.page.locator("figure");
const parameter = (name: string) => new URL(window.page.url()).searchParams.get(name);

/** The titles of the charts. */
async function titles(): Promise<string[]> {
  await charts().first().waitFor();
  return await window.page.locator("figcaption > :first-child").allTextContents();
}

test("the page of a cache has a chart for each of its series, over the period in the address", async () => {
  await window.goto(`/caches/${cache}`);
  expect(await titles()).toEqual([
    "Processor",
    "Memory",
    "Keys and values",
    "Keys",
    "Connections",
    "Commands",
    "Hits and misses",
    "Removed keys",
    "Traffic",
    "Clients at the gateway",
    "Wakes",
  ]);
  await window.page.getByText("Times are those of Australia/Adelaide.").waitFor();
  expect(await window.page.locator("figure canvas").count()).toBe(11);
  faults.push(...(await window.faultsInAllLooks("cache-metrics")));
  await window.page.getByRole("button", { name: "24h" }).click();
  await until("the period is in the address", () => parameter("period") === "24h");
  await window.page.reload();
  await charts().first().waitFor();
  expect(await window.page.getByRole("button", { name: "24h" }).getAttribute("aria-pressed")).toBe("true");
});

test("the cursor is the same in all charts, for the pointer and for the arrow keys", async () => {
  await window.goto(`/caches/${cache}`);
  await charts().first().waitFor();
  const times = window.page.locator("figcaption > :nth-child(2)");
  expect(await times.count()).toBe(0);
  await charts().nth(3).locator(".u-over").hover();
  await until("every chart shows a time", async () => (await times.count()) === 11);
  expect(new Set(await times.allTextContents()).size).toBe(1);
  await window.page.getByRole("heading", { name: "About" }).hover();
  await until("the cursor is gone", async () => (await times.count()) === 0);
  await window.page.getByRole("group", { name: /^Charts/ }).focus();
  await window.page.keyboard.press("End");
  const spoken = window.page.locator("p.sr-only[role=status]");
  // The latest minutes may not have been measured yet.
  await until("a measured time is spoken", async () => {
    await window.page.keyboard.press("ArrowLeft");
    return (await spoken.textContent())?.includes("Processor: of one processor") === true;
  });
  const measured = await spoken.textContent();
  await window.page.keyboard.press("ArrowLeft");
  await until("another time is spoken", async () => (await spoken.textContent()) !== measured);
  await window.page.keyboard.press("Escape");
  await until("the cursor is gone again", async () => (await times.count()) === 0);
});

test("a table has each time with its values, and says asleep where a chart has a gap", async () => {
  await window.goto(`/databases/${cluster}?metrics=table`);
  const table = window.page.getByRole("region", { name: "Metrics as a table" });
  await table.waitFor();
  const heads = await table.locator("thead th").allTextContents();
  expect(heads.slice(0, 4)).toEqual(["Time", "Processor: of one processor", "Memory", "Disk use"]);
  const asleep = table.locator("tbody tr", { hasText: "asleep" });
  expect(await asleep.count()).toBeGreaterThanOrEqual(SLEEP.from - SLEEP.until);
  const cells = await asleep.last().locator("td").allTextContents();
  // The disk use stays while it sleeps; nothing else is shown as zero.
  expect(cells[2]).toMatch(/^3\d\d MB$/);
  expect(new Set(cells.toSpliced(2, 1))).toEqual(new Set(["asleep"]));
  const awake = table.locator("tbody tr").filter({ hasNotText: "asleep" });
  expect(await awake.first().locator("td").first().textContent()).toMatch(/^\d.* ?%$/);
  // A table of fewer rows has all that can be wrong with it.
  await window.page.getByRole("button", { name: "7d" }).click();
  await until("the table is short", async () => (await table.locator("tbody tr").count()) < 20);
  faults.push(...(await window.faultsInAllLooks("database-metrics-table")));
  await window.page.getByRole("button", { name: "6h" }).click();
  await window.page.getByRole("button", { name: "Charts" }).click();
  expect(await titles()).toHaveLength(12);
  expect(parameter("metrics")).toBeNull();
  await window.page.getByText("asleep", { exact: true }).first().waitFor();
  faults.push(...(await window.faultsInAllLooks("database-metrics")));
});

test("a WebSocket cluster has its metrics, and those of each application", async () => {
  await window.goto(`/websockets/${server}`);
  const common = ["Connections", "Messages", "Messages by direction", "Requests of the HTTP API", "Webhooks"];
  expect(await titles()).toEqual([...common, "Processor", "Memory", "Disk"]);
  faults.push(...(await window.faultsInAllLooks("websocket-metrics")));
  await window.page.getByLabel("Metrics of").selectOption({ label: "second" });
  await until("the application is in the address", () => parameter("application") !== null);
  await window.page.reload();
  expect(await titles()).toEqual(common);
  await window.page.getByRole("button", { name: "1y" }).click();
  await until("the year is in the address", () => parameter("period") === "1y");
  await charts().first().waitFor();
});

test("an environment has its answers and their times, and its rest is marked in all charts but that of answers", async () => {
  const { page } = window;
  const home = `/applications/${application.id}/environments/${application.environmentId}`;
  await window.goto(home);
  expect(await titles()).toEqual(["Processor", "Memory", "Replicas", "Answers", "Response time"]);
  const legendOf = async (title: string) =>
    await page.locator("figure", { hasText: title }).locator("li span:first-of-type").allTextContents();
  expect(await legendOf("Answers")).toEqual(["2xx", "3xx", "4xx", "5xx"]);
  expect(await legendOf("Response time")).toEqual(["Mean", "Median", "95 %", "99 %"]);
  await page
    .locator("figure", { hasText: "Response time" })
    .getByText(/^1\.5\d? s$/)
    .waitFor();
  await page.getByText("asleep", { exact: true }).first().waitFor();
  faults.push(...(await window.faultsInAllLooks("environment-metrics")));
  await window.goto(`${home}?metrics=table`);
  const table = page.getByRole("region", { name: "Metrics as a table" });
  await table.waitFor();
  const asleep = table.locator("tbody tr", { hasText: "asleep" });
  expect(await asleep.count()).toBeGreaterThanOrEqual(SLEEP.from - SLEEP.until);
  const [cpu, memory, replicas, ...rest] = await asleep.last().locator("td").allTextContents();
  expect([cpu, memory, replicas]).toEqual(["asleep", "asleep", "asleep"]);
  expect(rest).toEqual([...Array(4).fill("0"), ...Array(4).fill("asleep")]);
});

test("metrics say when nothing was measured, and when they cannot be read", async () => {
  const { page } = window;
  const address = "**/api/caches/*/metrics?*";
  const empty = { labels: ["ratio"], average: [], data: [] };
  await page.route(address, (route) =>
    route.fulfill({ json: { data: { awake: empty }, meta: { period: "6h", available_periods: [] } } }),
  );
  await window.goto(`/caches/${cache}`);
  await page.getByText("Nothing was measured in this time.").waitFor();
  await page.unroute(address);
  await page.route(address, (route) =>
    route.fulfill({ status: 422, json: { message: "No metrics today." } }),
  );
  await page.getByRole("button", { name: "7d" }).click();
  await page.getByText("No metrics today.").waitFor();
  await page.unroute(address);
  await page.getByRole("button", { name: "Try again" }).click();
  await charts().first().waitFor();
});

test("the usage of a month has totals, what sleeping saved, days and resources", async () => {
  await window.goto(`/usage?month=${lastMonth()}`);
  await heading("Usage");
  const days = new Date(Number(lastMonth().slice(0, 4)), Number(lastMonth().slice(5)), 0).getDate();
  const total = window.page.locator("dl", { hasText: "Saved by sleeping" });
  await total.getByText("75 % of always being awake").waitFor();
  const amount = new Intl.NumberFormat("en-GB");
  await total.getByText(`${amount.format(2 * days * 18)} GB-h`, { exact: true }).waitFor();
  await window.page.getByText("Without sleep the month would have taken 4 times the memory.").waitFor();
  expect(await window.page.locator("[data-day]").count()).toBe(days);
  const resources = window.page.getByRole("region", { name: "Usage by resource" }).locator("tbody tr");
  expect(await resources.count()).toBe(3);
  faults.push(...(await window.faultsInAllLooks("usage")));
  await window.page.locator("[data-day]").nth(4).click();
  await until("the day is in the address", () => parameter("day") === `${lastMonth()}-05`);
  await resources.filter({ hasText: "orders" }).getByText("6 h", { exact: true }).waitFor();
  await window.page.getByRole("button", { name: "Messages" }).click();
  await until("the figure is in the address", () => parameter("figure") === "messages");
  await window.page.getByText("Days as a table").click();
  expect(await window.page.locator("details tbody tr").count()).toBe(days);
  faults.push(...(await window.faultsInAllLooks("usage-day")));
});

test("the usage is filtered by kind and by resource, and its months follow each other", async () => {
  await window.goto(`/usage?month=${lastMonth()}`);
  const resources = window.page.getByRole("region", { name: "Usage by resource" }).locator("tbody tr");
  await resources.nth(2).waitFor();
  await window.page.getByRole("button", { name: "Caches" }).click();
  await until("one resource is left", async () => (await resources.count()) === 1);
  expect(parameter("kind")).toBe("caches");
  await window.page.getByRole("button", { name: "Everything" }).click();
  await until("all resources are back", async () => (await resources.count()) === 3);
  await window.page.getByRole("button", { name: "Days of orders" }).click();
  await window.page.getByText("Only orders is counted.").waitFor();
  expect(parameter("resource")).toBe(cluster);
  await window.page.getByRole("button", { name: "The month before" }).click();
  await until("another month is in the address", () => parameter("month") !== lastMonth());
  await window.goto("/usage?month=2020-01");
  await window.page.getByText("Nothing in January 2020").waitFor();
  faults.push(...(await window.faultsInAllLooks("usage-empty")));
});

test("the table in CSV is downloaded with the session of the page", async () => {
  await window.goto(`/usage?month=${lastMonth()}&kind=caches`);
  const link = window.page.getByRole("link", { name: "Download CSV" });
  await link.waitFor();
  const [download] = await Promise.all([window.page.waitForEvent("download"), link.click()]);
  expect(download.suggestedFilename()).toBe(`usage-${lastMonth()}.csv`);
  const text = await Bun.file(await download.path()).text();
  const [head, first] = text.split("\r\n");
  expect(head).toStartWith("day,resource_id,kind");
  expect(first).toStartWith(`${lastMonth()}-01,${cache},caches,`);
});

test("activity says who did what from where, and appears by itself", async () => {
  await window.goto("/activity");
  await heading("Activity");
  const entries = window.page.getByRole("list", { name: "Activity" }).locator("li");
  const made = entries.filter({ hasText: "created the cache sessions" });
  await made.waitFor();
  expect(await made.textContent()).toContain("127.0.0.1");
  await pilvi.api("PATCH", `/caches/${cache}`, { name: "renamed" });
  await entries.filter({ hasText: "changed the cache renamed" }).waitFor();
  await made.locator("summary").click();
  await window.page.getByText('"uses_hibernation": true').waitFor();
  faults.push(...(await window.faultsInAllLooks("activity")));
});

test("the filters of activity live in the address, and can be cleared", async () => {
  const { page } = window;
  await window.goto("/activity");
  const entries = page.getByRole("list", { name: "Activity" }).locator("li");
  await entries.first().waitFor();
  await page.getByLabel("Action").selectOption("update");
  await until("one entry is left", async () => (await entries.count()) === 1);
  await page.getByLabel("Kind").selectOption("caches");
  expect([parameter("action"), parameter("kind")]).toEqual(["update", "caches"]);
  await page.reload();
  await until("the filters hold", async () => (await entries.count()) === 1);
  await entries.first().locator("summary").click();
  await page.getByRole("button", { name: "Only this resource" }).click();
  await until("the resource is in the address", () => parameter("resource") === cache);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await until("all activity is back", async () => (await entries.count()) > 3);
  await page.getByLabel("Until").fill("2020-01-01");
  await page.getByText("No activity", { exact: true }).waitFor();
});

test("a long activity is read page by page", async () => {
  const { page } = window;
  for (let number = 0; number < 60; number += 1)
    await pilvi.api("PATCH", `/caches/${cache}`, { name: `name-${number}` });
  await window.goto("/activity?action=update");
  const entries = page.getByRole("list", { name: "Activity" }).locator("li");
  await until("a page is there", async () => (await entries.count()) === 50);
  await page.getByRole("button", { name: "Show earlier activity" }).click();
  await until("all entries are there", async () => (await entries.count()) === 61);
  expect(await page.getByRole("button", { name: "Show earlier activity" }).count()).toBe(0);
});

test("activity of a user has the user's address", async () => {
  await window.goto("/activity?kind=tokens");
  await window.page.getByText("No activity", { exact: true }).waitFor();
  await window.goto("/settings/tokens");
  await window.page.getByLabel("Name").fill("deployment");
  await window.page.getByLabel("caches:read", { exact: true }).check();
  await window.page.getByRole("button", { name: "Make the token" }).click();
  await window.page.getByRole("heading", { name: "The token deployment" }).waitFor();
  await window.goto("/activity?kind=tokens");
  await window.page.getByText(`${OWNER.email} created the token deployment`).waitFor();
});

test("axe-core finds no fault in any page, theme and width", () => {
  expect(faults).toEqual([]);
});

test("no page asks another host or writes an error", () => {
  expect(window.foreign).toEqual([]);
  // A browser writes every answer 401, 404 and 422 into its console.
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
