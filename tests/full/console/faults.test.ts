// The errors of every form in a real browser: what is wrong is said at its field, and nothing is made or changed. Forms
// of the sign-in, the welcome and the recovery have theirs in the tests of accounts and of the story.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { addAuthenticator } from "../../support/clients/authenticator.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { faultAt } from "../../support/console/forms.ts";
import { makeOwner } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
const ids = { cache: "", cluster: "", server: "", application: "" };
let invitation: string;

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  const [cache, cluster, server] = await Promise.all([
    pilvi.createCache({ name: "sessions" }),
    createCluster(pilvi, { name: "orders" }),
    createServer(pilvi, { name: "chat" }),
  ]);
  Object.assign(ids, {
    cache: cache.id,
    cluster: cluster.id,
    server: server.id,
    application: server.main.id,
  });
  const { body } = await pilvi.api<{ data: { attributes: { link: string } } }>("POST", "/invitations", {
    role: "viewer",
  });
  const { pathname, hash } = new URL(body.data.attributes.link);
  invitation = pathname + hash;
  // Browsers have passkeys under this name, and under no IP address.
  window = await ConsolePage.open(served.chromium, pilvi.url.replace("127.0.0.1", "localhost"));
  await makeOwner(window, pilvi);
  await addAuthenticator(window.page);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

interface FaultyForm {
  path: () => string;
  /** The button that opens the form, where a dialog has it. */
  opens?: string;
  /** What is typed, by the labels of the fields; each has a fault afterwards. */
  values: Record<string, string>;
  /** The button that submits. */
  verb: string;
  /** What the API lists, which stays the same. */
  list?: () => string;
}

const BAD_NAME = { Name: "Bad Name" };

const FORMS: Record<string, FaultyForm> = {
  "a new cache": {
    path: () => "/caches/new",
    values: { ...BAD_NAME, "Hibernation timeout": "99" },
    verb: "Create cache",
    list: () => "/caches",
  },
  "a new database cluster": {
    path: () => "/databases/new",
    values: { ...BAD_NAME, "Suspend seconds": "-5" },
    verb: "Create database cluster",
    list: () => "/databases/clusters",
  },
  "a new WebSocket cluster": {
    path: () => "/websockets/new",
    values: { Name: "x" },
    verb: "Create WebSocket cluster",
    list: () => "/websocket-servers",
  },
  "a new database": {
    path: () => `/databases/${ids.cluster}/databases/new`,
    values: { Name: "postgres" },
    verb: "Create database",
    list: () => `/databases/clusters/${ids.cluster}/databases`,
  },
  "a database with the name of another": {
    path: () => `/databases/${ids.cluster}/databases/new`,
    values: { Name: "main" },
    verb: "Create database",
    list: () => `/databases/clusters/${ids.cluster}/databases`,
  },
  "a new application": {
    path: () => `/websockets/${ids.server}/applications/new`,
    values: {
      ...BAD_NAME,
      "Max connections": "0",
      "Ping interval": "61",
      "Allowed origins": "not an origin",
    },
    verb: "Create application",
    list: () => `/websocket-servers/${ids.server}/applications`,
  },
  "the settings of a cache": {
    path: () => `/caches/${ids.cache}`,
    values: BAD_NAME,
    verb: "Save",
    list: () => "/caches",
  },
  "the settings of a database cluster": {
    path: () => `/databases/${ids.cluster}`,
    values: { "Suspend seconds": "-5" },
    verb: "Save",
    list: () => "/databases/clusters",
  },
  "the settings of a WebSocket cluster": {
    path: () => `/websockets/${ids.server}`,
    values: BAD_NAME,
    verb: "Save",
    list: () => "/websocket-servers",
  },
  "the settings of an application": {
    path: () => `/websockets/${ids.server}`,
    opens: "Settings",
    values: { ...BAD_NAME, "Activity timeout": "0" },
    verb: "Save",
    list: () => `/websocket-servers/${ids.server}/applications`,
  },
  "a test event": {
    path: () => `/websockets/${ids.server}/applications/${ids.application}/debug`,
    values: { Channel: "no channel", Event: "e".repeat(300) },
    verb: "Publish",
  },
  "a snapshot of a cache": {
    path: () => `/caches/${ids.cache}/backups`,
    values: { "Name of a new snapshot": "n".repeat(300) },
    verb: "Make a snapshot",
    list: () => `/caches/${ids.cache}/snapshots`,
  },
  "a snapshot of a database cluster": {
    path: () => `/databases/${ids.cluster}/backups`,
    values: { "Name of a new snapshot": "n".repeat(300) },
    verb: "Make a snapshot",
    list: () => `/databases/clusters/${ids.cluster}/snapshots`,
  },
  "a clone of a cache": {
    path: () => `/caches/${ids.cache}`,
    opens: "Clone",
    values: { "Name of the new cache": "Bad Name" },
    verb: "Clone",
    list: () => "/caches",
  },
  "a clone of a database cluster": {
    path: () => `/databases/${ids.cluster}`,
    opens: "Clone",
    values: { "Name of the new database cluster": "Bad Name" },
    verb: "Clone",
    list: () => "/databases/clusters",
  },
  "a new token": {
    path: () => "/settings/tokens",
    values: { Name: "" },
    verb: "Make the token",
    list: () => "/tokens",
  },
  "a new invitation": {
    path: () => "/settings/members",
    values: { "E-mail": "no address" },
    verb: "Make an invitation",
    list: () => "/invitations",
  },
  "an accepted invitation": {
    path: () => invitation,
    values: { "E-mail": "no address", Password: "short" },
    verb: "Accept",
    list: () => "/members",
  },
  "a new name of the account": {
    path: () => "/settings/account",
    values: { "Your name": "", "E-mail": "no address" },
    verb: "Save",
  },
  "a new password": {
    path: () => "/settings/account",
    values: { "New password": "short" },
    verb: "Change the password",
  },
  "a passkey": {
    path: () => "/settings/account",
    values: { "Name of the passkey": "n".repeat(300) },
    verb: "Add a passkey",
  },
  "a new organization": {
    path: () => "/settings/organizations",
    values: { Name: "x" },
    verb: "Make the organization",
  },
  "a new name of an organization": {
    path: () => "/settings/organizations",
    opens: "Rename default",
    values: { "New name": "x" },
    verb: "Save the name",
  },
};

test.each(Object.entries(FORMS))("the form of %s says at each field what is wrong", async (_form, row) => {
  const { path, opens, values, verb, list } = row;
  const { page } = window;
  const before = list && (await namesAt(list()));
  await window.goto(path());
  if (opens !== undefined) await page.getByRole("button", { name: opens, exact: true }).first().click();
  const forms = opens === undefined ? page.locator("form") : page.getByRole("dialog");
  const scope = forms.filter({ has: verbOf(page, verb) });
  await scope.waitFor();
  for (const [label, value] of Object.entries(values))
    await scope.getByLabel(label, { exact: true }).fill(value);
  await verbOf(scope, verb).click();
  for (const [label, value] of Object.entries(values)) {
    const field = scope.getByLabel(label, { exact: true });
    expect(await faultAt(field, label)).not.toBe("");
    expect(await field.inputValue()).toBe(value);
  }
  expect(list && (await namesAt(list()))).toEqual(before);
});

function verbOf(scope: Pick<Locator, "getByRole">, verb: string): Locator {
  return scope.getByRole("button", { name: verb, exact: true });
}

/** The ids and names of what the API lists. */
async function namesAt(path: string): Promise<unknown[]> {
  const { status, body } = await pilvi.api<{ data: { id: string; attributes: { name?: string } }[] }>(
    "GET",
    path,
  );
  expect(status).toBe(200);
  return body.data.map(({ id, attributes: { name } }) => [id, name]);
}

test("a token without an ability is refused at the abilities", async () => {
  const { page } = window;
  await window.goto("/settings/tokens");
  await page.getByLabel("Name", { exact: true }).fill("useless");
  const abilities = page.getByRole("group", { name: "It may" });
  await abilities.getByLabel("Everything").waitFor();
  const before = await abilities.locator("p.text-bad").count();
  await page.getByRole("button", { name: "Make the token" }).click();
  await abilities.locator("p.text-bad").first().waitFor();
  expect(before).toBe(0);
  expect(await namesAt("/tokens")).not.toContainEqual([expect.any(String), "useless"]);
});

/** Whether the dialog is scrolled to where the element is. */
async function isInSight(dialog: Locator, element: Locator): Promise<boolean> {
  const [frame, box] = await Promise.all([dialog.boundingBox(), element.boundingBox()]);
  if (frame === null || box === null) return false;
  return box.y >= frame.y && box.y + box.height <= frame.y + frame.height;
}

/** The webhooks of the application. */
async function webhooks(): Promise<unknown[]> {
  const { body } = await pilvi.api<{ data: { attributes: { webhooks: unknown[] } } }>(
    "GET",
    `/websocket-applications/${ids.application}`,
  );
  return body.data.attributes.webhooks;
}

test("an eleventh webhook of an application is refused at the list of webhooks", async () => {
  const { page } = window;
  const ten = Array.from({ length: 10 }, (_, number) => ({
    url: `https://example.com/hook-${number}`,
    event_types: ["channel_occupied"],
  }));
  const path = `/websocket-applications/${ids.application}`;
  expect((await pilvi.api("PATCH", path, { webhooks: ten })).status).toBe(200);
  await window.goto(`/websockets/${ids.server}`);
  await page.getByRole("button", { name: "Settings", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: /^Settings of / });
  await dialog.getByRole("button", { name: "Add a webhook" }).click();
  await dialog.getByLabel("Address of webhook 11").fill("https://example.com/hook-11");
  await dialog.getByRole("button", { name: "Save" }).click();
  const list = dialog.getByRole("group", { name: "Webhooks" });
  const fault = list.getByRole("alert");
  await fault.waitFor();
  expect(await fault.textContent()).toContain("10");
  await until("the fault is in sight", async () => await isInSight(dialog, fault));
  expect(await list.getAttribute("aria-describedby")).toBe(await fault.getAttribute("id"));
  expect(await window.faultsInAllLooks("webhooks-refused")).toEqual([]);
  expect(await webhooks()).toHaveLength(10);
  await dialog.getByRole("button", { name: "Remove webhook 11" }).click();
  await dialog.getByLabel("Address of webhook 10").fill("https://example.com/last");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect(await webhooks()).toContainEqual(expect.objectContaining({ url: "https://example.com/last" }));
});

test("a wrong webhook of a new application is said at its address", async () => {
  const { page } = window;
  await window.goto(`/websockets/${ids.server}/applications/new`);
  await page.getByLabel("Name", { exact: true }).fill("hooked");
  await page.getByRole("button", { name: "Add a webhook" }).click();
  await page.getByLabel("Address of webhook 1").fill("example.com/hook");
  await page.getByRole("button", { name: "Create application" }).click();
  const field = page.getByLabel("Address of webhook 1");
  expect(await faultAt(field, "the address")).not.toBe("");
  expect(await window.faultsInAllLooks("application-refused")).toEqual([]);
});

test("no page asks another host or writes an error", () => {
  expect(window.foreign).toEqual([]);
  // A browser writes every answer 401, 404 and 422 into its console.
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
