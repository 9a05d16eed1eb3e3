// The parts of resources in a real browser: they are deleted by name.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
let cluster: string;
let server: string;

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  const [ordered, sockets] = await Promise.all([
    createCluster(pilvi, { name: "orders" }),
    createServer(pilvi, { name: "chat" }),
  ]);
  [cluster, server] = [ordered.id, sockets.id];
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
  const verb = page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true });
  const field = page.getByLabel(`Type ${name} to confirm`);
  await verb.waitFor();
  expect(await verb.isDisabled()).toBe(true);
  await field.fill(name.slice(0, -1));
  await field.press("Enter");
  expect(await verb.isDisabled()).toBe(true);
  await field.fill(name);
  expect(await window.accessibilityFaults()).toEqual([]);
  await verb.click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
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
