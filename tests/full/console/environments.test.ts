// The pages of an environment in a real browser: its variables, its attachments, its settings and its log.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ConsolePage } from "../../support/console/console-page.ts";
import { copiedText, faultAt, submitWrong } from "../../support/console/forms.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { TestApplication } from "../../support/pilvi/applications.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { until } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

let served: TestConsole;
let window: ConsolePage;
let application: TestApplication;
/** The address of the environment's page. */
let home: string;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  const { pilvi } = served;
  [application] = await Promise.all([
    TestApplication.create(pilvi),
    createCluster(pilvi, { name: "orders" }),
    pilvi.createCache({ name: "sessions" }),
    createServer(pilvi, { name: "chat" }),
  ]);
  home = `/applications/${application.id}/environments/${application.environmentId}`;
  window = await ConsolePage.open(served.chromium, pilvi.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function lookedAt(name: string): Promise<void> {
  faults.push(...(await window.faultsInAllLooks(name)));
}

async function variables(): Promise<Record<string, string>> {
  const { environment_variables: all = [] } = (await application.environment()).attributes;
  return Object.fromEntries(all.map(({ key, value }) => [key, value]));
}

test("the values of variables are hidden until they are asked for", async () => {
  const { page } = window;
  await window.goto(`${home}/variables`);
  await page.getByText("APP_KEY", { exact: true }).waitFor();
  const { APP_KEY: secret = "" } = await variables();
  expect(secret).toStartWith("base64:");
  expect(await page.getByText(secret).count()).toBe(0);
  expect(await copiedText(page, "value of APP_KEY")).toBe(secret);
  await page.getByRole("button", { name: "Show the values" }).click();
  await page.getByText(secret, { exact: true }).waitFor();
});

test("a variable is added, changed and deleted, and a wrong name is said at its field", async () => {
  const { page } = window;
  await page.getByRole("button", { name: "Add variable" }).click();
  const dialog = page.getByRole("dialog", { name: "Add variable" });
  await submitWrong(dialog, "Save", { Name: "1 BAD" });
  await dialog.getByText(/^This field may have letters/).waitFor();
  await lookedAt("variable-add");
  await dialog.getByLabel("Name", { exact: true }).fill("GREETING");
  await dialog.getByLabel("Value").fill("good\nmorning");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await variables()).toMatchObject({ GREETING: "good\nmorning" });
  await page.getByRole("button", { name: "Change GREETING" }).click();
  const change = page.getByRole("dialog", { name: "Change GREETING" });
  await change.getByLabel("Value").fill("good evening");
  await change.getByRole("button", { name: "Save" }).click();
  await change.waitFor({ state: "detached" });
  expect(await variables()).toMatchObject({ GREETING: "good evening" });
  await page.getByRole("button", { name: "Delete GREETING" }).click();
  await page
    .getByRole("dialog", { name: "Delete GREETING?" })
    .getByRole("button", { name: "Delete" })
    .click();
  await page.getByText("GREETING", { exact: true }).waitFor({ state: "detached" });
  expect(Object.keys(await variables())).toEqual(["APP_KEY"]);
});

test("a whole .env file is pasted, and lines that are no variables are named", async () => {
  const { page } = window;
  await page.getByRole("button", { name: "Paste a .env file" }).click();
  const dialog = page.getByRole("dialog", { name: "Paste a .env file" });
  const field = dialog.getByLabel("Content of the file");
  await field.fill("A=1\nnonsense\n");
  expect(await faultAt(field, "the file")).toContain("Line 2");
  expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  const lines = Array.from({ length: 8 }, (_, index) => `NUMBER_${index}=${index}`);
  await field.fill(["# mail", 'MAIL_NAME="Web # shop"', "APP_KEY=new", ...lines].join("\n"));
  await dialog.getByText(/^Adds MAIL_NAME, NUMBER_0, .*, changes APP_KEY\.$/).waitFor();
  await lookedAt("variables-paste");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await variables()).toMatchObject({ MAIL_NAME: "Web # shop", APP_KEY: "new", NUMBER_7: "7" });
  await page.getByLabel("Search by name").fill("mail");
  await page.getByText("1 of 10").waitFor();
  expect(page.url()).toContain("q=mail");
  await page.getByLabel("Search by name").fill("");
  await lookedAt("variables");
});

test("a database, a cache and a WebSocket application are attached by name, and detached", async () => {
  const { page } = window;
  await window.goto(`${home}/attachments`);
  await page.getByLabel("Database", { exact: true }).selectOption("orders / main");
  await page.getByLabel("Cache", { exact: true }).selectOption("sessions");
  await page.getByLabel("WebSocket application", { exact: true }).selectOption("chat / main");
  await page.getByText("DATABASE_URL", { exact: true }).waitFor();
  await page.getByText("PUSHER_APP_KEY", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The attachments are saved.").waitFor();
  const { relationships } = await application.environment();
  expect(relationships.database.data?.id).toStartWith("schema-");
  expect(relationships.cache.data?.id).toStartWith("cache-");
  expect(relationships.websocketApplication.data).not.toBeNull();
  await lookedAt("attachments");
  await page.getByLabel("Cache", { exact: true }).selectOption("None");
  await page.getByRole("button", { name: "Save" }).click();
  await until(
    "the cache is detached",
    async () => (await application.environment()).relationships.cache.data === null,
  );
  expect((await application.environment()).relationships.database.data).not.toBeNull();
});

test("the settings of an environment are changed, and wrong values are said at their fields", async () => {
  const { page } = window;
  await window.goto(`${home}/settings`);
  await page.getByLabel("Build command").waitFor();
  await submitWrong(page.locator("body"), "Save", {
    Name: "bad/name",
    "Time of a request": "1",
    "Sleep after": "99",
  });
  await lookedAt("environment-settings");
  await page.getByRole("button", { name: "Discard" }).click();
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("production");
  await page.getByLabel("Build command").fill("npm run lint\nnpm run build");
  await page.getByLabel("Node.js version").selectOption("22");
  await page.getByLabel("Sleep after").fill("9");
  await page.getByLabel("HTTPS only: max age").fill("3600");
  await page.getByLabel("Frames on other pages").selectOption("sameorigin");
  await page.getByLabel("Rate limit", { exact: true }).selectOption("throttle");
  await page.getByLabel("Requests a minute").selectOption("300");
  await page.getByLabel("Under attack").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("production is changed.").waitFor();
  const { attributes, meta } = await application.environment();
  expect(attributes).toMatchObject({
    build_command: "npm run lint\nnpm run build",
    node_version: "22",
    network_settings: {
      response_headers: {
        frame: "sameorigin",
        hsts: { max_age: 3600, include_subdomains: false, preload: false },
      },
      firewall: {
        rate_limit: { level: "throttle", per_minute: 300 },
        under_attack_mode_started_at: expect.any(String),
      },
    },
  });
  expect(meta.sleep_timeout).toBe(9);
  await page.getByLabel("Build command").fill("");
  await page.getByLabel("Node.js version").selectOption("");
  await page.getByRole("button", { name: "Save" }).click();
  await until("the settings are taken away", async () => {
    const { build_command: build, node_version: node } = (await application.environment()).attributes;
    return build === null && node === null;
  });
});

async function purges(): Promise<number> {
  const path = "/activity?filter[action]=purge-edge-cache";
  return (await served.pilvi.api<{ data: unknown[] }>("GET", path)).body.data.length;
}

test("the edge cache is purged after a question, and kept over deployments when that is set", async () => {
  const { page } = window;
  await window.goto(`${home}/settings`);
  await page.getByRole("button", { name: "Purge edge cache" }).click();
  const dialog = page.getByRole("dialog", { name: "Purge the edge cache of production?" });
  await lookedAt("edge-cache-purge");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await purges()).toBe(0);
  await page.getByRole("button", { name: "Purge edge cache" }).click();
  await dialog.getByRole("button", { name: "Purge" }).click();
  await page.getByText("The edge cache of production is purged.").waitFor();
  expect(await purges()).toBe(1);
  await page.getByRole("button", { name: "Purge edge cache" }).scrollIntoViewIfNeeded();
  await lookedAt("edge-cache");
  await page.getByLabel("Purge the edge cache at each deployment").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("production is changed.").waitFor();
  expect((await application.environment()).meta.uses_purge_edge_cache_on_deploy).toBe(false);
});

test("replicas and background processes are shown with their numbers, which buttons change", async () => {
  const { page } = window;
  const environment = `/environments/${application.environmentId}`;
  const instances = async () =>
    (
      await served.pilvi.api<{ data: { id: string; attributes: object }[] }>(
        "GET",
        `${environment}/instances`,
      )
    ).body.data;
  const id = (await instances())[0]?.id;
  const order = { type: "custom", processes: 1, command: "node mail.js" };
  await served.pilvi.api("POST", `/instances/${id}/background-processes`, order);
  await window.goto(home);
  await page.getByText("0 of 1 run").waitFor();
  await page.getByRole("button", { name: "More of App" }).click();
  await page.getByText("0 of 2 run").waitFor();
  expect((await instances())[0]?.attributes).toMatchObject({ min_replicas: 2, max_replicas: 2 });
  await page.getByRole("button", { name: "More of custom" }).click();
  await page.getByText("0 of 4 run").waitFor();
  await page.getByRole("button", { name: "Fewer of App" }).click();
  await page.getByText("0 of 2 run").waitFor();
  await page.getByRole("checkbox", { name: "Scheduler" }).click();
  await page.getByText("php artisan schedule:run").waitFor();
  expect((await instances())[0]?.attributes).toMatchObject({ uses_scheduler: true });
  await lookedAt("processes");
  await page.getByRole("checkbox", { name: "Scheduler" }).click();
  await page.getByText("php artisan schedule:run").waitFor({ state: "detached" });
  expect((await instances())[0]?.attributes).toMatchObject({ uses_scheduler: false });
});

test("a background process is added to an instance by a form, and deleted after a question", async () => {
  const { page } = window;
  const lines = page.getByRole("list", { name: "Processes" }).getByRole("listitem");
  await window.goto(home);
  await page.getByRole("link", { name: "Create instance" }).click();
  await submitWrong(page.locator("body"), "Create instance", { Name: "x" });
  await lookedAt("instance-create");
  await page.getByLabel("Name", { exact: true }).fill("jobs");
  await page.getByRole("button", { name: "Create instance" }).click();
  await page.getByRole("link", { name: "Add a process to jobs" }).click();
  await submitWrong(page.locator("body"), "Create background process", { Processes: "99" });
  await lookedAt("process-create");
  await page.getByLabel("Processes", { exact: true }).fill("3");
  await page.getByRole("button", { name: "Create background process" }).click();
  expect(await faultAt(page.getByLabel("Command", { exact: true }), "Command")).toContain("needs a command");
  await page.getByLabel("Command", { exact: true }).fill("node jobs.js");
  await page.getByRole("button", { name: "Create background process" }).click();
  const added = lines.filter({ hasText: "node jobs.js" });
  await added.getByText("0 of 3 run").waitFor();
  await lookedAt("processes-of-instances");
  await added.getByRole("button", { name: "Delete custom" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await added.waitFor({ state: "detached" });
  await lines.getByRole("button", { name: "Delete jobs" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await lines.filter({ hasText: "jobs" }).waitFor({ state: "detached" });
  expect(await lines.getByRole("button", { name: "Delete App" }).count()).toBe(0);
});

test("the address of a deploy hook is hidden until it is asked for, and begins a deployment", async () => {
  const { page } = window;
  await window.goto(`${home}/settings`);
  await page.getByLabel("Deploy hook").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("production is changed.").waitFor();
  await window.goto(home);
  const { meta } = await application.environment();
  const address = `${served.pilvi.url}${meta.deploy_hook_url}`;
  await page.getByText("/api/deploy-hooks/••••••••").waitFor();
  expect(await page.locator("body").innerText()).not.toContain(meta.deploy_hook_url ?? "none");
  expect(await copiedText(page, "address of the deploy hook")).toBe(address);
  await page.getByRole("button", { name: "Show the address of the deploy hook" }).click();
  await page.getByText(address, { exact: true }).waitFor();
  await lookedAt("environment-hook");
  expect((await fetch(address, { method: "POST" })).status).toBeLessThan(300);
  await page.getByText("Deployments · 1").waitFor();
});

test("no page has a fault of accessibility, and none has an error", () => {
  expect(faults).toEqual([]);
  // The browser itself reports the answers to refused forms.
  expect(window.errors.filter((text) => !text.includes("the server responded with a status of 422"))).toEqual(
    [],
  );
  expect(window.foreign).toEqual([]);
});
