// The pages of applications in a real browser: their list, their forms with all errors, a deployment of nothing, what a
// viewer sees, and deletion.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ConsolePage } from "../../support/console/console-page.ts";
import { copiedText, submitWrong } from "../../support/console/forms.ts";
import { makeOwner, openViewer } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import type { ApplicationResource, EnvironmentResource } from "../../../src/sdk/index.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
/** The address of the application's page in the console. */
let home: string;
/** The address of the page of its first environment. */
let production: string;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  window = await ConsolePage.open(served.chromium, pilvi.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function heading(name: string, { page } = window): Promise<void> {
  await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

async function lookedAt(name: string, page = window): Promise<void> {
  faults.push(...(await page.faultsInAllLooks(name)));
}

const body = () => window.page.locator("body");

async function applications(): Promise<ApplicationResource[]> {
  return (await pilvi.api<{ data: ApplicationResource[] }>("GET", "/applications")).body.data;
}

async function deployKey(): Promise<string> {
  return (await applications())[0]?.meta.deploy_key ?? "";
}

/** The environment whose page is `production`, as the API shows it. */
async function environment(): Promise<EnvironmentResource> {
  const id = production.split("/").at(-1);
  return (await pilvi.api<{ data: EnvironmentResource }>("GET", `/environments/${id}`)).body.data;
}

test("an empty list says how a deployment begins", async () => {
  await window.goto("/applications");
  await heading("Applications");
  await window.page.getByText("No applications yet").waitFor();
  expect(await copiedText(window.page, "deploy command")).toBe("pilvi deploy");
  expect(await copiedText(window.page, "git commands")).toContain("git push pilvi main");
  await lookedAt("applications-empty");
});

test("a new application with wrong values is refused at each field, and nothing is made", async () => {
  await window.page.getByRole("link", { name: "Create application" }).first().click();
  await heading("Create application");
  const { page } = window;
  await page.getByLabel("Name", { exact: true }).fill("Web shop");
  expect(await copiedText(page, "command")).toBe("pilvi init 'Web shop' \\\n  --region us-east-1");
  expect(await copiedText(page, "request")).toContain("/api/applications");
  await page.getByLabel("Repository password").fill("typed-in-the-console");
  expect(await copiedText(page, "request")).toContain('"repository_password": "PASSWORD"');
  await submitWrong(body(), "Create application", {
    Name: "x",
    Repository: "no address",
    "Root directory": "../up",
  });
  await lookedAt("application-create-faults");
  expect(await applications()).toEqual([]);
});

test("an application is made with an environment that waits for its first deployment", async () => {
  const { page } = window;
  await window.goto("/applications/new");
  await heading("Create application");
  await page.getByLabel("Name", { exact: true }).fill("Web shop");
  await lookedAt("application-create");
  await page.getByRole("button", { name: "Create application" }).click();
  await heading("Web shop");
  home = new URL(page.url()).pathname;
  const line = page.getByRole("list", { name: "Environments" }).getByRole("listitem");
  await line.getByText("not deployed", { exact: true }).waitFor();
  await page.getByText("/git/web-shop.git").waitFor();
  const [made] = await applications();
  const [first] = made?.relationships.environments.data ?? [];
  production = `${home}/environments/${first?.id}`;
  expect(await copiedText(page, "address of production")).toBe((await environment()).meta.url);
  await lookedAt("application");
});

test("an environment with wrong values is refused at each field, and made with right values", async () => {
  const { page } = window;
  await page.getByRole("link", { name: "Create environment" }).click();
  await heading("Create environment");
  await submitWrong(body(), "Create environment", { Name: "bad/name", Branch: "-x" });
  await lookedAt("environment-create");
  await page.getByLabel("Name", { exact: true }).fill("staging");
  await page.getByLabel("Branch", { exact: true }).fill("next");
  await page.getByRole("button", { name: "Create environment" }).click();
  await heading("Web shop");
  await page.getByRole("link", { name: "staging", exact: true }).waitFor();
});

test("the settings of an application are changed, and a wrong value is said at its field", async () => {
  const { page } = window;
  await submitWrong(body(), "Save", { Slug: "Not A Slug", Repository: "nowhere" });
  await page.getByLabel("Slug", { exact: true }).fill("shop");
  await page.getByLabel("Repository", { exact: true }).fill("git@git.example.com:shop/web.git");
  await page.getByLabel("Default environment").selectOption("staging");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Web shop is being changed.").waitFor();
  const [changed] = await applications();
  expect(changed?.attributes.slug).toBe("shop");
  expect(changed?.meta.repository_url).toBe("git@git.example.com:shop/web.git");
  expect(changed?.meta.deploy_key).toStartWith("ssh-ed25519 ");
  await page.getByText(changed?.meta.deploy_key ?? "").waitFor();
  await page.getByRole("button", { name: "Copy deploy key" }).waitFor();
  expect(changed?.relationships.defaultEnvironment.data?.id).not.toBe((await environment()).id);
});

test("a new deploy key takes the place of the present key once a question is answered", async () => {
  const { page } = window;
  const former = await deployKey();
  await page.getByRole("button", { name: "New deploy key" }).click();
  const question = page.getByRole("dialog", { name: "Make a new deploy key?" });
  await question.getByText("The present key is gone at once.").waitFor();
  await lookedAt("application-new-deploy-key");
  await question.getByRole("button", { name: "Cancel" }).click();
  expect(await deployKey()).toBe(former);
  await page.getByRole("button", { name: "New deploy key" }).click();
  await question.getByRole("button", { name: "New deploy key" }).click();
  await page.getByText(former).waitFor({ state: "detached" });
  expect(await deployKey()).not.toBe(former);
  await page.getByText(await deployKey()).waitFor();
});

test("a password of a repository is typed unseen, is shown nowhere, and goes with its user name", async () => {
  const { page } = window;
  const [password, user] = [page.getByLabel("Repository password"), page.getByLabel("Repository username")];
  const save = page.getByRole("button", { name: "Save" });
  const fact = page.getByText("Fetched as");
  expect(await password.getAttribute("type")).toBe("password");
  await page.getByLabel("Repository", { exact: true }).fill("https://git.example.com/shop/web.git");
  await user.fill("ada");
  await password.fill("typed-in-the-console");
  await save.click();
  await fact.waitFor();
  expect(await password.inputValue()).toBe("");
  expect(await page.content()).not.toContain("typed-in-the-console");
  expect((await applications())[0]?.meta.repository_username).toBe("ada");
  await lookedAt("application-password");
  await user.fill("");
  await save.click();
  await fact.waitFor({ state: "hidden" });
  expect((await applications())[0]?.meta.repository_username).toBeNull();
});

test("the page of an environment shows its address, and a deployment of nothing fails with a reason", async () => {
  const { page } = window;
  await page.getByLabel("Repository", { exact: true }).fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("pushed or uploaded", { exact: true }).waitFor();
  await window.goto(production);
  await heading("production");
  expect(await copiedText(page, "address")).toBe((await environment()).meta.url);
  await page.getByText("Nothing was deployed here yet.").waitFor();
  await lookedAt("environment-new");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await heading("The newest commit of main");
  await page.locator('header [data-status="failed"]').waitFor();
  await page.getByRole("alert").waitFor();
  await lookedAt("deployment-failed");
  await page.getByRole("link", { name: "production", exact: true }).click();
  const line = page.getByRole("list", { name: "Deployments" }).getByRole("listitem");
  await line.getByText("failed", { exact: true }).waitFor();
  await line.getByText("Ada").waitFor();
});

test("the list shows environments, finds an application by its name, and follows the API", async () => {
  const { page } = window;
  await window.goto("/applications");
  const rows = page.getByRole("list", { name: "Applications" }).getByRole("listitem");
  await rows.filter({ hasText: "staging" }).filter({ hasText: "production" }).waitFor();
  await pilvi.api("POST", "/applications", { name: "Docs", region: "eu-central-1" });
  await rows.filter({ hasText: "Docs" }).waitFor();
  await lookedAt("applications");
  await page.getByLabel("Search by name or id").fill("web");
  await page.getByText("1 of 2").waitFor();
  expect(page.url()).toContain("q=web");
  expect(await rows.count()).toBe(1);
});

test("a viewer sees applications without variables, and changes nothing", async () => {
  const viewer = await openViewer(served.chromium, pilvi);
  const { page } = viewer;
  await viewer.goto(production);
  await heading("production", viewer);
  const pages = page.getByRole("navigation", { name: "Pages of this environment" });
  expect(await pages.getByRole("link").allTextContents()).toEqual(["Overview", "Commands", "Attachments"]);
  for (const name of ["Deploy", "Stop", "Restart"])
    expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
  await lookedAt("environment-viewer", viewer);
  await viewer.goto(`${production}/variables`);
  await page.getByText("Your role does not show variables").waitFor();
  await viewer.goto(`${production}/settings`);
  await page.getByText("Your role changes no settings").waitFor();
  await viewer.goto(`${production}/attachments`);
  await page.getByText("WebSocket application", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Save" }).count()).toBe(0);
  await viewer.goto("/applications/new");
  await page.getByText("Your role creates no applications").waitFor();
  await pilvi.api("PATCH", home, { repository: "git@git.example.com:shop/web.git" });
  await viewer.goto(home);
  await page.getByRole("button", { name: "Copy deploy key" }).waitFor();
  expect(await page.getByRole("button", { name: "New deploy key" }).count()).toBe(0);
  await viewer.goto(`${home}/environments/new`);
  await page.getByText("Your role creates no environments").waitFor();
  await viewer.close();
});

test("an environment and an application are deleted when their names are typed", async () => {
  const { page } = window;
  await window.goto(`${production}/settings`);
  await page.getByRole("button", { name: "Delete this environment" }).click();
  const dialog = page.getByRole("dialog", { name: /^Delete / });
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await lookedAt("environment-delete");
  await dialog.getByLabel("Type production to confirm").fill("production");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await heading("Web shop");
  await page.getByRole("link", { name: "production", exact: true }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete this application" }).click();
  await dialog.getByLabel("Type Web shop to confirm").fill("Web shop");
  await dialog.getByRole("button", { name: "Delete" }).click();
  await heading("Applications");
  await until("the application is gone", async () => (await applications()).length === 1);
  await page.getByText("Web shop", { exact: true }).waitFor({ state: "detached" });
  await window.goto(production);
  await page.getByText("This environment is not there").waitFor();
  await lookedAt("environment-gone");
});

test("no page has a fault of accessibility, and none has an error", () => {
  expect(faults).toEqual([]);
  // The browser itself reports answers that the tests ask for: refused forms, and what is gone.
  expect(
    window.errors.filter((text) => !/the server responded with a status of 4(04|22)/.test(text)),
  ).toEqual([]);
  expect(window.foreign).toEqual([]);
});
