// Deployments in a real browser: followed live, with their output, failures and logs, and rolled back with a click.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildsDir } from "../../../src/host/os/layout.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { until } from "../../support/pilvi/pilvi.ts";

let served: TestConsole;
let window: ConsolePage;
let application: TestApplication;
/** The address of the environment's page. */
let home: string;
const faults: string[] = [];

/** A build whose output has a colour, and which a reader can watch until it is released. */
const HELD_BUILD = "printf '\\033[32mcompiled\\033[0m 3 files\\n'; until [ -e released ]; do sleep 0.1; done";

beforeAll(async () => {
  served = await startConsole();
  application = await TestApplication.create(served.pilvi);
  home = `/applications/${application.id}/environments/${application.environmentId}`;
  window = await ConsolePage.open(served.chromium, served.pilvi.url);
  await makeOwner(window, served.pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function lookedAt(name: string): Promise<void> {
  faults.push(...(await window.faultsInAllLooks(name)));
}

async function state(word: string): Promise<void> {
  await window.page.locator(`header [data-status="${word}"]`).waitFor();
}

/** The files of a server whose build is this command. */
function builtBy(build: string, text: string) {
  const files = bunServer(text);
  files["package.json"] = JSON.stringify({ name: "shop", scripts: { start: "bun server.ts", build } });
  return files;
}

/** Lets a held build end. */
function release(id: string): void {
  writeFileSync(join(buildsDir(served.pilvi.dataDir), id, "work", "app", "released"), "");
}

const deployments = () => window.page.getByRole("list", { name: "Deployments" }).getByRole("listitem");

test("a deployment is followed from its build to the release that serves", async () => {
  const { page } = window;
  await window.goto(home);
  await page.getByText("Nothing was deployed here yet.").waitFor();
  const { id } = await application.upload(builtBy(HELD_BUILD, "one"));
  await deployments().first().getByRole("link").click();
  await state("building");
  await page.getByText("compiled", { exact: true }).waitFor();
  await lookedAt("deployment-building");
  release(id);
  await state("succeeded");
  await page.getByText("This release serves").waitFor();
  expect(new URL(page.url()).pathname).toBe(`${home}/deployments/${id}`);
  await lookedAt("deployment");
});

test("a deployment whose application ends at once says why, with its last lines", async () => {
  const { page } = window;
  const files = bunServer("two");
  files["server.ts"] = `console.error("no database here"); process.exit(3);`;
  const { id } = await application.upload(files);
  await window.goto(`${home}/deployments/${id}`);
  await state("failed");
  await page.getByRole("alert").getByText("no database here").waitFor();
  expect(await page.getByRole("button", { name: "Roll back to this" }).count()).toBe(0);
  await lookedAt("deployment-failed-output");
});

test("an earlier release is started again with a click", async () => {
  const { page } = window;
  const { id } = await application.deploy(bunServer("three"));
  await window.goto(home);
  await deployments().first().getByText("serves now").waitFor();
  await lookedAt("environment");
  await deployments().last().getByRole("link").click();
  await page.getByRole("button", { name: "Roll back to this" }).click();
  await page.waitForURL((url) => url.pathname.includes("/deployments/") && !url.pathname.endsWith(id));
  await page.getByText("This release serves").waitFor();
  expect(await application.text()).toBe("one");
});

test("a release is built again, restarted, stopped and started", async () => {
  const { page } = window;
  await window.goto(home);
  await page.getByRole("button", { name: "Restart" }).click();
  await page.getByText("This release serves").waitFor();
  await page.getByRole("button", { name: "Deploy again" }).click();
  await page.getByText("Release of").waitFor({ state: "detached" });
  await page.getByText("compiled", { exact: true }).waitFor();
  release(new URL(page.url()).pathname.split("/").at(-1) ?? "");
  await page.getByText("This release serves").waitFor();
  await window.goto(home);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await state("stopped");
  await until("the edge has noticed", async () => (await application.fetch()).status === 503);
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("This release serves").waitFor();
  expect(await application.text()).toBe("one");
});

test("the log of the environment shows what its application has written", async () => {
  await window.goto(`${home}/logs`);
  await window.page
    .getByText(/one listens at/)
    .first()
    .waitFor();
  await lookedAt("environment-logs");
});

test("no page has a fault of accessibility, and none has an error", () => {
  expect(faults).toEqual([]);
  expect(window.errors).toEqual([]);
  expect(window.foreign).toEqual([]);
});
