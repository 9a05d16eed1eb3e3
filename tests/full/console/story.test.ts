// The story of a new user in a real browser: the first account, a cache that is made and used, changes of others that
// appear by themselves, and the end of the session.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "redis";
import { ConsolePage } from "../../support/console/console-page.ts";
import { consoleLink, makeOwner, OWNER } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

let served: TestConsole;
let pilvi: TestPilvi;
let window: ConsolePage;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  window = await ConsolePage.open(served.chromium, pilvi.url, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function heading(name: string): Promise<void> {
  await window.page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

async function copiedUrl(): Promise<string> {
  await window.page
    .getByRole("button", { name: /^(Copy url|Copied)$/ })
    .first()
    .click();
  return String(await window.page.evaluate("navigator.clipboard.readText()"));
}

test("a page without a session leads to the sign-in, and a wrong password is said there", async () => {
  await window.goto("/caches?q=x");
  await heading("Sign in");
  await window.page.getByLabel("E-mail").fill("nobody@example.com");
  await window.page.getByLabel("Password").fill("wrong password");
  await window.page.getByRole("button", { name: "Sign in" }).click();
  await window.page.getByText("The e-mail address or the password is wrong.").waitFor();
  faults.push(...(await window.faultsInAllLooks("sign-in")));
});

test("the one-time link makes the first account; faults stand at their fields", async () => {
  await window.goto(await consoleLink(pilvi));
  await heading("Welcome to your cloud");
  await window.page.getByLabel("Password").fill("short");
  await window.page.getByRole("button", { name: "Make the account" }).click();
  await until("the password's fault is shown", async () => {
    return (await window.page.getByLabel("Password").getAttribute("aria-invalid")) === "true";
  });
  faults.push(...(await window.faultsInAllLooks("welcome")));
  await makeOwner(window, pilvi);
  await window.page.getByText("You have no caches yet.").waitFor();
  faults.push(...(await window.faultsInAllLooks("overview-empty")));
});

test("a form says at the field what the API refuses", async () => {
  await window.page.getByRole("link", { name: "Create cache" }).click();
  await heading("Create cache");
  await window.page.getByLabel("Name").fill("Bad Name");
  await window.page.getByRole("button", { name: "Create cache" }).click();
  await until("the name's fault is shown", async () => {
    return (await window.page.getByLabel("Name").getAttribute("aria-invalid")) === "true";
  });
  faults.push(...(await window.faultsInAllLooks("cache-create")));
});

test("a cache is made and becomes available, and what is copied connects to it", async () => {
  await window.page.getByLabel("Name").fill("sessions");
  await window.page.getByLabel("Hibernation", { exact: true }).check();
  await window.page.getByRole("button", { name: "Create cache" }).click();
  await heading("sessions");
  await window.page.locator('header [data-status="available"]').waitFor();
  expect(await window.page.getByText("••••••••").count()).toBeGreaterThan(0);
  const client = await createClient({ url: await copiedUrl() }).connect();
  expect(await client.ping()).toBe("PONG");
  await client.close();
  faults.push(...(await window.faultsInAllLooks("cache")));
});

test("a cache is put to sleep, and shows by itself that a client has woken it", async () => {
  const url = await copiedUrl();
  await window.page.getByRole("button", { name: "Put to sleep" }).click();
  await window.page.getByText("sessions sleeps.").waitFor();
  const state = window.page.locator("header [data-status]");
  await state.getByText("asleep", { exact: true }).waitFor();
  expect(await window.page.getByRole("button", { name: "Put to sleep" }).isDisabled()).toBe(true);
  const client = await createClient({ url }).connect();
  expect(await client.set("key", "value")).toBe("OK");
  await client.close();
  await state.getByText("available", { exact: true }).waitFor();
});

test("a new password replaces the former in what is copied", async () => {
  const former = await copiedUrl();
  await window.page.getByRole("button", { name: "New password" }).click();
  await window.page.getByRole("dialog").getByRole("button", { name: "New password" }).click();
  await until("the password is another", async () => (await copiedUrl()) !== former);
  await window.page.locator('header [data-status="available"]').waitFor();
  const client = await createClient({ url: await copiedUrl() }).connect();
  expect(await client.get("key")).toBe("value");
  await client.close();
});

test("a new password leaves the former password valid for a time, until it is refused", async () => {
  const { page } = window;
  await page.getByRole("button", { name: "New password" }).click();
  await page.getByLabel("The present password is").waitFor();
  faults.push(...(await window.faultsInAllLooks("cache-rotate")));
  await page.getByRole("dialog").getByRole("button", { name: "New password" }).click();
  const notice = page.getByText(/^The former password is valid until .* \(in /);
  await notice.waitFor();
  await page.locator('header [data-status="available"]').waitFor();
  faults.push(...(await window.faultsInAllLooks("cache-rotated")));
  await page.getByRole("button", { name: "Refuse it now" }).click();
  await notice.waitFor({ state: "hidden" });
  await page.locator('header [data-status="available"]').waitFor();
});

test("a change that somebody else makes appears by itself", async () => {
  await window.page.getByRole("link", { name: "Caches" }).first().click();
  await heading("Caches");
  await window.page.getByText("1 in all").waitFor();
  const cache = await pilvi.createCache({ name: "queue" });
  await window.page.locator("li", { hasText: "queue" }).locator('[data-status="available"]').waitFor();
  faults.push(...(await window.faultsInAllLooks("caches")));
  await window.page.getByLabel("Search by name or id").fill("que");
  await window.page.getByText("1 of 2").waitFor();
  expect(new URL(window.page.url()).searchParams.get("q")).toBe("que");
  await pilvi.deleteCache(cache.id);
  await window.page.getByText("Nothing fits the search and the filters.").waitFor();
});

test("a new name of a cache appears by itself", async () => {
  await window.goto("/caches");
  await window.page.getByText("1 in all").waitFor();
  const cache = await pilvi.createCache({ name: "quick" });
  await window.page.getByText("quick").waitFor();
  await pilvi.api("PATCH", `/caches/${cache.id}`, { name: "slower" });
  await window.page.getByRole("link", { name: "slower" }).waitFor();
});

test("a cache is deleted once its name was typed, and its page says that it is gone", async () => {
  await window.page.getByRole("link", { name: "slower" }).click();
  await heading("slower");
  await window.page.getByRole("button", { name: "Delete this cache" }).click();
  const verb = window.page.getByRole("dialog").getByRole("button", { name: "Delete" });
  expect(await verb.isDisabled()).toBe(true);
  await window.page.getByLabel("Type slower to confirm").fill("slower");
  faults.push(...(await window.faultsInAllLooks("cache-delete")));
  await verb.click();
  await heading("Caches");
  await window.page.getByText("1 in all").waitFor();
});

test("the command palette opens pages and resources by the keyboard alone", async () => {
  await window.page.keyboard.press("Control+k");
  await window.page.getByRole("combobox").waitFor();
  faults.push(...(await window.faultsInAllLooks("palette")));
  await window.page.keyboard.type("event");
  await window.page.keyboard.press("Enter");
  await heading("Events");
  await window.page.getByText("The cache sessions is available.").first().waitFor();
  faults.push(...(await window.faultsInAllLooks("events")));
});

test("a snapshot is made on the page of backups, and restored to a new cache with its keys", async () => {
  const { page } = window;
  await window.goto("/caches?q=sessions");
  await page.getByRole("link", { name: "sessions" }).click();
  await heading("sessions");
  await page.getByRole("link", { name: "Backups" }).click();
  await page.getByLabel("Name of a new snapshot").fill("before-upgrade");
  await page.getByRole("button", { name: "Make a snapshot" }).click();
  await page.getByRole("button", { name: "Restore before-upgrade" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await heading("sessions-restored");
  await page.locator('header [data-status="available"]').waitFor();
  const client = await createClient({ url: await copiedUrl() }).connect();
  expect(await client.get("key")).toBe("value");
  await client.close();
});

test("the console says when Pilvi is away, and goes on by itself when it is back", async () => {
  await pilvi.stop();
  await window.page.getByText("Pilvi does not answer.").waitFor();
  faults.push(...(await window.faultsInAllLooks("offline")));
  await pilvi.start();
  await window.page.getByText("Live", { exact: true }).waitFor();
  // The browser itself writes the refused connections of that time into its console.
  window.errors.splice(0);
});

test("a session ends when its user signs out, and begins again with the password", async () => {
  await window.page.getByRole("button", { name: `default ${OWNER.email}` }).click();
  await window.page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading("Sign in");
  await window.goto("/caches?q=sess");
  await heading("Sign in");
  await window.page.getByLabel("E-mail").fill(OWNER.email);
  await window.page.getByLabel("Password").fill(OWNER.password);
  await window.page.getByRole("button", { name: "Sign in" }).click();
  await heading("Caches");
  expect(new URL(window.page.url()).search).toBe("?q=sess");
});

test("axe-core finds no fault in any page, theme and width", () => {
  expect(faults).toEqual([]);
});

test("no page asks another host or writes an error", () => {
  expect(window.foreign).toEqual([]);
  // A browser writes every answer 401, 404 and 422 into its console.
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
