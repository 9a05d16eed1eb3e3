// The first visit of each page with an empty cache: what a real browser receives, its answers of the API included.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { BrowserContextOptions } from "playwright-core";
import { ConsolePage } from "../../support/console/console-page.ts";
import { pagePaths } from "../../support/console/page-paths.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { Traffic } from "../../support/console/traffic.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

const MAX_BYTES = 250_000;
const PUBLIC = new Set(["/sign-in", "/welcome", "/invitation", "/recovery"]);

let served: TestConsole;
let session: NonNullable<BrowserContextOptions["storageState"]>;
/** The ids in the place of `$id`, by the first part of the path. */
const ids: Record<string, string> = {};
let application: string;
let environment: string;
let deployment: string;
let command: string;

beforeAll(async () => {
  served = await startConsole();
  const { pilvi, chromium } = served;
  const [cluster, cache, server, shop] = await Promise.all([
    createCluster(pilvi),
    pilvi.createCache({}),
    createServer(pilvi),
    TestApplication.create(pilvi),
  ]);
  Object.assign(ids, {
    databases: cluster.id,
    caches: cache.id,
    websockets: server.id,
    applications: shop.id,
  });
  environment = shop.environmentId;
  ({ id: deployment } = await shop.deploy(bunServer("hello")));
  const path = `/environments/${environment}/commands`;
  ({ id: command } = (
    await pilvi.api<{ data: { id: string } }>("POST", path, { command: "true" })
  ).body.data);
  application = server.main.id;
  const window = await ConsolePage.open(chromium, pilvi.url);
  await makeOwner(window, pilvi);
  session = await window.context.storageState();
  await window.close();
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function openFirst(path: string): Promise<{ window: ConsolePage; traffic: Traffic }> {
  const options = PUBLIC.has(path) ? {} : { storageState: session };
  const window = await ConsolePage.open(served.chromium, served.pilvi.url, options);
  const traffic = await Traffic.of(window.page);
  const [, kind = ""] = path.split("/");
  const address = path
    .replace("$id", ids[kind] ?? "")
    .replace("$application", application)
    .replace("$environment", environment)
    .replace("$deployment", deployment)
    .replace("$command", command);
  await window.goto(address);
  await window.page.getByRole("heading", { level: 1 }).first().waitFor();
  await traffic.untilSilent();
  return { window, traffic };
}

test.each(pagePaths())("the first visit of %s takes less than 250 kB", async (path) => {
  const { window, traffic } = await openFirst(path);

  if (traffic.bytes >= MAX_BYTES) throw new Error(`${traffic.bytes} bytes: ${traffic.largest.join(", ")}`);
  expect(traffic.bytes).toBeGreaterThan(100_000);
  await window.close();
});

test("the editor of statements comes when somebody writes, and keeps what was written until then", async () => {
  const { window } = await openFirst("/databases/$id/query");
  const { page } = window;
  const statement = page.getByRole("textbox", { name: "Statement" });
  const { promise: isWanted, resolve: answer } = Promise.withResolvers<void>();
  await page.route("**/assets/part-*.js", async (route) => {
    await isWanted;
    await route.continue();
  });
  await statement.focus();
  await page.keyboard.type("select 42 as former");
  for (let step = 0; step < 6; step++) await page.keyboard.press("Shift+ArrowLeft");
  answer();
  await page.locator(".cm-editor").waitFor();
  await page.keyboard.insertText("latter");
  await page.getByRole("textbox", { name: "Statement" }).getByText("select 42 as latter").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("grid", { name: "Result" }).getByRole("columnheader", { name: "latter" }).waitFor();
  await window.close();
});

test("a statement runs before the editor has come", async () => {
  const { window } = await openFirst("/databases/$id/query");
  const { page } = window;
  await page.route("**/assets/part-*.js", (route) => route.abort());
  await page.getByRole("textbox", { name: "Statement" }).focus();
  await page.keyboard.type("select 42 as plain, missing");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("alert").getByText('column "missing" does not exist').waitFor();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("select 42 as plain");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("grid", { name: "Result" }).getByRole("columnheader", { name: "plain" }).waitFor();
  expect(await page.locator(".cm-editor").count()).toBe(0);
  await window.close();
});
