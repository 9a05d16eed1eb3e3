// Commands of an environment in a real browser: run by a form, followed while they write, cancelled, and run again.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { writeLink } from "../../../src/cli/applications/link.ts";
import type { CommandResource } from "../../../src/sdk/index.ts";
import { runProgram } from "../../support/clients/programs.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { copiedText, submitWrong } from "../../support/console/forms.ts";
import { makeOwner, openViewer } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { TOKEN, until } from "../../support/pilvi/pilvi.ts";

const PILVI = resolve(import.meta.dir, "../../../scripts/pilvi.mjs");

let served: TestConsole;
let window: ConsolePage;
let application: TestApplication;
/** The address of the page of commands. */
let home: string;
/** A folder that is linked to the environment. */
let folder: string;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  application = await TestApplication.create(served.pilvi);
  home = `/applications/${application.id}/environments/${application.environmentId}/commands`;
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-linked-"));
  writeLink(folder, {
    url: served.pilvi.url,
    application_id: application.id,
    environment_id: application.environmentId,
  });
  window = await ConsolePage.open(served.chromium, served.pilvi.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await makeOwner(window, served.pilvi);
}, CONSOLE_START_MS);

afterAll(async () => {
  await served.close();
  rmSync(folder, { recursive: true, force: true });
});

async function lookedAt(name: string, page = window): Promise<void> {
  faults.push(...(await page.faultsInAllLooks(name)));
}

async function state(word: string): Promise<void> {
  await window.page.locator(`header [data-status="${word}"]`).waitFor();
}

async function commands(): Promise<CommandResource[]> {
  const path = `/environments/${application.environmentId}/commands`;
  return (await served.pilvi.api<{ data: CommandResource[] }>("GET", path)).body.data;
}

async function runByForm(command: string): Promise<void> {
  const { page } = window;
  await window.goto(`${home}/new`);
  await page.getByLabel("Command", { exact: true }).fill(command);
  await page.getByRole("button", { name: "Run the command" }).click();
  await page.getByRole("heading", { name: "Output" }).waitFor();
}

const lines = (page = window.page) => page.getByRole("list", { name: "Commands" }).getByRole("listitem");

test("an environment without a release runs no command, and the form says so", async () => {
  const { page } = window;
  await window.goto(home);
  await page.getByText("A command can run after the first deployment.").waitFor();
  expect(await page.getByRole("link", { name: "Run a command" }).count()).toBe(0);
  await window.goto(`${home}/new`);
  await page.getByLabel("Command", { exact: true }).fill("true");
  await page.getByRole("button", { name: "Run the command" }).click();
  await page.getByRole("alert").getByText("Nothing is deployed yet").waitFor();
  await application.deploy(bunServer("hello"));
});

test("a command without words is refused at its field", async () => {
  const { page } = window;
  await window.goto(home);
  await page.getByText("No command was run here yet.").waitFor();
  await page.getByRole("link", { name: "Run a command" }).click();
  await submitWrong(page.locator("body"), "Run the command", { Command: "  " });
  await lookedAt("command-create-faults");
  expect(await commands()).toEqual([]);
});

test("a command is followed while it writes, and cancelled after a question", async () => {
  const { page } = window;
  await runByForm("printf '\\033[32mbegun\\033[0m\\n'\nsleep 600");
  await state("under way");
  await page.getByLabel("Output of the command").getByText("begun", { exact: true }).waitFor();
  await lookedAt("command-running");
  await page.getByRole("button", { name: "Cancel the command" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Cancel the command" }).click();
  await state("failed");
  await page.getByRole("button", { name: "Run again" }).waitFor();
  await lookedAt("command-cancelled");
});

test("a command that ended shows its output and its exit code, and is run again with a click", async () => {
  const { page } = window;
  await runByForm("ls; exit 3");
  await state("failed");
  await page.getByLabel("Output of the command").getByText("server.ts").waitFor();
  expect(await page.locator("dt:has-text('Exit code') + dd").textContent()).toBe("3");
  expect(await page.locator("dt:has-text('Run by') + dd").textContent()).toBe("Ada");
  const former = page.url();
  await page.getByRole("button", { name: "Run again" }).click();
  await until("the page of the other command is open", () => page.url() !== former);
  await state("failed");
  const [again] = await commands();
  expect(new URL(page.url()).pathname).toBe(`${home}/${again?.id}`);
  expect(again?.attributes.command).toBe("ls; exit 3");
});

test("the command and the request beside the form run what the form says", async () => {
  const { page } = window;
  await window.goto(`${home}/new`);
  const text = "echo it\\'s -done\necho second";
  await page.getByLabel("Command", { exact: true }).fill(text);
  const env = { ...served.pilvi.env, PILVI_URL: served.pilvi.url, PILVI_TOKEN: TOKEN };
  const command = (await copiedText(page, "command")).replace("pilvi", PILVI);
  expect(await runProgram(["sh", "-ec", `cd ${folder}\n${command}`], env)).toBe("it's -done\nsecond\n");
  await runProgram(["sh", "-ec", await copiedText(page, "request")], env);
  const [byRequest, byCommand] = await commands();
  expect([byRequest, byCommand].map((each) => each?.attributes.command)).toEqual([text, text]);
});

test("the list follows the API, and its search and filter live in the address", async () => {
  const { page } = window;
  await window.goto(home);
  const path = `/environments/${application.environmentId}/commands`;
  await served.pilvi.api("POST", path, { command: "echo by the API" });
  const made = lines().filter({ hasText: "echo by the API" });
  await made.locator('[data-status="succeeded"]').waitFor();
  expect(await made.textContent()).toContain("a token");
  await lookedAt("commands");
  await page.getByLabel("Filter by status").selectOption("failed");
  await until("the failed commands are left", async () => (await lines().count()) === 3);
  await page.getByLabel("Search commands").fill("exit 3");
  await until("two commands are left", async () => (await lines().count()) === 2);
  expect(new URL(page.url()).searchParams.get("status")).toBe("failed");
  await page.reload();
  await page.getByText("2 of 6").waitFor();
  expect(await lines().count()).toBe(2);
});

test("a viewer sees commands without their output, and runs none", async () => {
  const viewer = await openViewer(served.chromium, served.pilvi);
  const { page } = viewer;
  await viewer.goto(home);
  await lines(page).first().waitFor();
  expect(await page.getByRole("link", { name: "Run a command" }).count()).toBe(0);
  await lines(page).filter({ hasText: "echo by the API" }).getByRole("link").click();
  await page.getByText("Your role does not show the output of commands.").waitFor();
  expect(await page.getByRole("button", { name: "Run again" }).count()).toBe(0);
  await lookedAt("command-viewer", viewer);
  await viewer.goto(`${home}/new`);
  await page.getByText("Your role creates no commands").waitFor();
  expect(viewer.errors).toEqual([]);
  await viewer.close();
});

test("activity names commands and deployments, and is filtered by their kinds", async () => {
  const { page } = window;
  await window.goto("/activity");
  const entries = page.getByRole("list", { name: "Activity" }).locator("li");
  await entries.filter({ hasText: "cancelled the command" }).waitFor();
  await page.getByLabel("Kind").selectOption({ label: "deployment" });
  await until("the deployment is left", async () => (await entries.count()) === 1);
  await entries.filter({ hasText: "created the deployment" }).waitFor();
  await page.reload();
  await entries.filter({ hasText: "created the deployment" }).waitFor();
});

test("a command that is not there says so", async () => {
  await window.goto(`${home}/comm-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f`);
  await window.page.getByRole("heading", { name: "No such command" }).waitFor();
});

test("no page has a fault of accessibility, and none asks another host", () => {
  expect(faults).toEqual([]);
  expect(window.foreign).toEqual([]);
});
