// The pages of databases, WebSocket clusters and settings in a real browser: what they show is used with real clients.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Client } from "pg";
import Pusher from "pusher";
import type { TestBrowser } from "../../support/clients/chromium.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { makeOwner, openViewer } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let chromium: TestBrowser;
let window: ConsolePage;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi, chromium } = served);
  window = await ConsolePage.open(chromium, pilvi.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function heading(name: string, { page } = window): Promise<void> {
  await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

/** The text that the button with this name copies. */
async function copied(label: string): Promise<string> {
  await window.page
    .getByRole("button", { name: `Copy ${label}`, exact: true })
    .first()
    .click();
  return String(await window.page.evaluate("navigator.clipboard.readText()"));
}

test("a database cluster is made, its address works, and a database is added to it", async () => {
  await window.goto("/databases/new");
  await heading("Create database cluster");
  await window.page.getByLabel("Name").fill("orders");
  faults.push(...(await window.faultsInAllLooks("database-create")));
  await window.page.getByRole("button", { name: "Create database cluster" }).click();
  await heading("orders");
  await window.page.locator('header [data-status="available"]').waitFor({ timeout: 60_000 });
  await window.page.getByText("main", { exact: true }).waitFor();
  const client = new Client({ connectionString: await copied("url") });
  await client.connect();
  expect((await client.query("select current_database() as name")).rows).toEqual([{ name: "main" }]);
  await client.end();
  await window.page.getByRole("link", { name: "Create database" }).click();
  await heading("Create database");
  await window.page.getByLabel("Name").fill("reports");
  faults.push(...(await window.faultsInAllLooks("database-create-in-cluster")));
  await window.page.getByRole("button", { name: "Create database" }).click();
  await heading("orders");
  await window.page.locator("li", { hasText: "reports" }).locator('[data-status="available"]').waitFor();
  faults.push(...(await window.faultsInAllLooks("database")));
});

test("a setting of a database cluster is changed, and a wrong value is said at its field", async () => {
  const field = window.page.getByLabel("Suspend seconds");
  await field.fill("-5");
  await window.page.getByRole("button", { name: "Save" }).click();
  await until("the fault is shown", async () => (await field.getAttribute("aria-invalid")) === "true");
  await field.fill("600");
  await window.page.getByRole("button", { name: "Save" }).click();
  await until("the change is in force", async () => {
    const { body } = await pilvi.api<{ data: { attributes: { config: { suspend_seconds: number } } }[] }>(
      "GET",
      "/databases/clusters",
    );
    return body.data[0]?.attributes.config.suspend_seconds === 600;
  });
});

test("a WebSocket cluster is made, and its application's credentials publish", async () => {
  await window.goto("/websockets/new");
  await heading("Create WebSocket cluster");
  await window.page.getByLabel("Name").fill("chat");
  faults.push(...(await window.faultsInAllLooks("websocket-create")));
  await window.page.getByRole("button", { name: "Create WebSocket cluster" }).click();
  await heading("chat");
  await window.page.locator('header [data-status="available"]').waitFor({ timeout: 60_000 });
  await window.page.getByRole("button", { name: "Laravel .env" }).click();
  const settings = new Map(
    (await copied("Laravel .env snippet")).split("\n").map((line) => line.split("=") as [string, string]),
  );
  const setting = (name: string) => settings.get(`PUSHER_${name}`) ?? "";
  const pusher = new Pusher({
    appId: setting("APP_ID"),
    key: setting("APP_KEY"),
    secret: setting("APP_SECRET"),
    host: setting("HOST"),
    port: setting("PORT"),
    useTLS: false,
  });
  expect((await pusher.trigger("news", "greeting", {})).status).toBe(200);
  await window.page.getByRole("link", { name: "Create application" }).click();
  await heading("Create application");
  await window.page.getByLabel("Name").fill("second");
  await window.page.getByRole("button", { name: "Add a webhook" }).click();
  faults.push(...(await window.faultsInAllLooks("application-create")));
  await window.page.getByRole("button", { name: "Remove webhook 1" }).click();
  await window.page.getByRole("button", { name: "Create application" }).click();
  await window.page.getByRole("heading", { name: "Application second" }).waitFor();
  faults.push(...(await window.faultsInAllLooks("websocket")));
});

interface Application {
  attributes: { name: string; allowed_origins: string[]; max_message_size: number; webhooks: object[] };
  meta: { former_secrets: object[] };
}

async function applicationNamed(name: string): Promise<Application | undefined> {
  const clusters = await pilvi.api<{ data: { id: string }[] }>("GET", "/websocket-servers");
  const path = `/websocket-servers/${clusters.body.data[0]?.id}/applications`;
  const { body } = await pilvi.api<{ data: Application[] }>("GET", path);
  return body.data.find(({ attributes }) => attributes.name === name);
}

test("the settings of a WebSocket application are changed, and wrong values are said at their fields", async () => {
  const { page } = window;
  await page.getByRole("button", { name: "Settings", exact: true }).last().click();
  const dialog = page.getByRole("dialog", { name: "Settings of second" });
  await dialog.getByLabel("Max message size").fill("7");
  await dialog.getByLabel("Allowed origins").fill("https://example.com\nnot an origin");
  await dialog.getByRole("button", { name: "Add a webhook" }).click();
  await dialog.getByLabel("Address of webhook 1").fill("example.com/hook");
  await dialog.getByRole("button", { name: "Save" }).click();
  for (const label of ["Max message size", "Allowed origins", "Address of webhook 1"])
    await until(`the fault of ${label} is shown`, async () => {
      return (await dialog.getByLabel(label).getAttribute("aria-invalid")) === "true";
    });
  faults.push(...(await window.faultsInAllLooks("application-settings")));
  await dialog.getByLabel("Max message size").fill("2000");
  await dialog.getByLabel("Allowed origins").fill("https://example.com\n*.example.org\n");
  await dialog.getByLabel("Address of webhook 1").fill("https://example.com/hook");
  await dialog.getByLabel("client_event", { exact: true }).uncheck();
  await dialog.getByLabel("Only channels that begin with").fill("presence-");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const application = await applicationNamed("second");
  expect(application?.attributes).toMatchObject({
    allowed_origins: ["https://example.com", "*.example.org"],
    max_message_size: 2000,
    webhooks: [{ url: "https://example.com/hook", filter: { channel_name_starts_with: "presence-" } }],
  });
  const [webhook] = (application?.attributes.webhooks ?? []) as { event_types: string[] }[];
  expect(webhook?.event_types).toContain("channel_occupied");
  expect(webhook?.event_types).not.toContain("client_event");
});

test("a new secret of a WebSocket application comes with a choice of how long the former secret is good", async () => {
  const { page } = window;
  await page.getByRole("button", { name: "New secret" }).last().click();
  const dialog = page.getByRole("dialog", { name: "Make a new secret?" });
  await dialog.getByLabel("The present secret is").selectOption("Valid for another week");
  await dialog.getByRole("button", { name: "New secret" }).click();
  await dialog.waitFor({ state: "detached" });
  const [former] = ((await applicationNamed("second"))?.meta.former_secrets ?? []) as {
    expires_at: string;
  }[];
  const leftDays = (Date.parse(former?.expires_at ?? "") - Date.now()) / 86_400_000;
  expect(Math.round(leftDays)).toBe(7);
});

test("a token is made, shown once, works as far as its abilities go, and is revoked", async () => {
  await window.goto("/settings/tokens");
  await heading("Tokens");
  await window.page.getByLabel("Name").fill("deployment");
  await window.page.getByLabel("caches:read", { exact: true }).check();
  await window.page.getByRole("button", { name: "Make the token" }).click();
  await window.page.getByRole("heading", { name: "The token deployment" }).waitFor();
  const token = await copied("token");
  const read = async (path: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${pilvi.url}/api${path}`, { headers })).status;
  };
  expect([await read("/caches"), await read("/websocket-servers")]).toEqual([200, 403]);
  faults.push(...(await window.faultsInAllLooks("tokens")));
  await window.goto("/settings/tokens");
  await window.page.getByRole("button", { name: "Revoke deployment" }).click();
  await window.page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await until("the token is refused", async () => (await read("/caches")) === 401);
  expect(await window.page.getByText(token).count()).toBe(0);
});

test("an invitation makes a viewer, who sees resources without credentials and can create nothing", async () => {
  await window.goto("/settings/members");
  await heading("Members");
  await window.page.getByLabel("Role", { exact: true }).selectOption("viewer");
  await window.page.getByRole("button", { name: "Make an invitation" }).click();
  await window.page.getByRole("button", { name: "Copy invitation link" }).waitFor();
  const { pathname, hash } = new URL(await copied("invitation link"));
  faults.push(...(await window.faultsInAllLooks("members")));

  const viewer = await ConsolePage.open(chromium, pilvi.url);
  await viewer.goto(pathname + hash);
  await heading("You are invited", viewer);
  faults.push(...(await viewer.faultsInAllLooks("invitation")));
  await viewer.page.getByLabel("Your name").fill("Bob <b>");
  await viewer.page.getByLabel("E-mail").fill("bob@example.com");
  await viewer.page.getByLabel("Password").fill("another good password");
  await viewer.page.getByRole("button", { name: "Accept" }).click();
  await heading("Overview", viewer);
  await viewer.page.getByRole("link", { name: /^orders / }).click();
  await heading("orders", viewer);
  await viewer.page.getByText("Your role does not show credentials.").waitFor();
  expect(await viewer.page.getByRole("link", { name: "Query", exact: true }).count()).toBe(0);
  expect(await viewer.page.getByRole("button", { name: "Delete this database cluster" }).count()).toBe(0);
  await viewer.goto(`${new URL(viewer.page.url()).pathname}/query`);
  await viewer.page.getByText("Your role runs no statements").waitFor();
  await viewer.goto("/caches");
  await viewer.page.getByText("No caches yet").waitFor();
  expect(await viewer.page.getByRole("link", { name: "Create cache" }).count()).toBe(0);
  const pages = viewer.page.getByRole("navigation", { name: "Main" });
  await pages.getByRole("link", { name: "Usage" }).waitFor();
  expect(await pages.getByRole("link", { name: "Activity" }).count()).toBe(0);
  await viewer.page.keyboard.press("Control+k");
  await viewer.page.getByRole("combobox").fill("ctivity");
  await viewer.page.getByText("Nothing has this name.").waitFor();
  await viewer.page.keyboard.press("Escape");
  await viewer.goto("/activity");
  await viewer.page.getByText("Your role does not show activity").waitFor();
  await viewer.goto("/settings/tokens");
  await viewer.page.getByText("Your role does not show tokens").waitFor();
  await viewer.goto("/usage");
  await viewer.page.getByRole("region", { name: "Usage by resource" }).getByText("orders").waitFor();
  await viewer.close();

  await window.goto("/settings/members");
  await window.page.getByText("Bob <b>", { exact: true }).waitFor();
});

test("a viewer is offered nothing to create, and the pages that create say so in the place of their forms", async () => {
  const viewer = await openViewer(chromium, pilvi);
  for (const [path, things] of Object.entries({
    databases: "database clusters",
    caches: "caches",
    websockets: "WebSocket clusters",
  })) {
    await viewer.goto(`/${path}/new`);
    await viewer.page.getByText(`Your role creates no ${things}`, { exact: true }).waitFor();
    expect(await viewer.page.locator("form").count()).toBe(0);
  }
  faults.push(...(await viewer.faultsInAllLooks("create-refused")));
  const pages = viewer.page.getByRole("navigation", { name: "Main" });
  await pages.getByRole("link", { name: "Members" }).waitFor();
  expect(await pages.getByRole("link", { name: "Tokens" }).count()).toBe(0);
  await viewer.page.keyboard.press("Control+k");
  const field = viewer.page.getByRole("combobox");
  for (const text of ["create", "tokens"]) {
    await field.fill(text);
    await viewer.page.getByText("Nothing has this name.").waitFor();
    expect(await viewer.page.getByRole("option").count()).toBe(0);
  }
  await viewer.close();
});

test("the command palette finds a resource that no page has listed, and reads its list once", async () => {
  const cache = await pilvi.createCache({ name: "greetings" });
  let reads = 0;
  window.page.on("request", (request) => {
    if (new URL(request.url()).pathname === "/api/caches") reads += 1;
  });
  await window.goto("/usage");
  await heading("Usage");
  expect(reads).toBe(0);
  await window.page.keyboard.press("Control+k");
  const field = window.page.getByRole("dialog").getByRole("combobox");
  await field.fill("Create");
  await window.page.getByRole("option", { name: "Create cache" }).waitFor();
  await field.fill("greet");
  await window.page.getByRole("option", { name: "greetings" }).waitFor();
  await field.press("Enter");
  await heading("greetings");
  await window.page.getByRole("link", { name: "Caches" }).first().click();
  await window.page.getByText("1 in all").waitFor();
  expect(reads).toBe(1);
  await pilvi.deleteCache(cache.id);
});

test("the overview shows the newest resources and what happened last", async () => {
  await window.goto("/");
  await window.page.getByRole("link", { name: /^orders / }).waitFor();
  await window.page.getByRole("link", { name: /^chat / }).waitFor();
  const latest = window.page.getByRole("heading", { name: "Latest events" });
  await window.page.locator("section", { has: latest }).locator("li").first().waitFor();
  faults.push(...(await window.faultsInAllLooks("overview")));
});

test("a user sees the own sessions and changes the password", async () => {
  await window.goto("/settings/account");
  await heading("Account");
  await window.page.getByText("this session").waitFor();
  await window.page.getByLabel("Present password").fill("not the password");
  await window.page.getByLabel("New password").fill("a new good password");
  await window.page.getByRole("button", { name: "Change the password" }).click();
  await until("the fault is shown", async () => {
    return (await window.page.getByLabel("Present password").getAttribute("aria-invalid")) === "true";
  });
});

test("axe-core finds no fault in any page, theme and width", () => {
  expect(faults).toEqual([]);
});

test("no page asks another host or writes an error", () => {
  expect(window.foreign).toEqual([]);
  // A browser writes every answer 401, 404 and 422 into its console.
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
