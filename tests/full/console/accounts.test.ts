// Accounts in a real browser: passkeys, sessions, a new password by link, organizations, and several tabs.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { addAuthenticator } from "../../support/clients/authenticator.ts";
import type { TestBrowser } from "../../support/clients/chromium.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { consoleLink, makeOwner, OWNER } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";

const NEW_PASSWORD = "a new good password";

let served: TestConsole;
let pilvi: TestPilvi;
let chromium: TestBrowser;
let origin: string;
let window: ConsolePage;
const faults: string[] = [];

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi, chromium } = served);
  // Browsers have passkeys under this name, and under no IP address.
  origin = pilvi.url.replace("127.0.0.1", "localhost");
  window = await ConsolePage.open(chromium, origin);
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function heading(name: string, { page } = window): Promise<void> {
  await page.getByRole("heading", { name, exact: true, level: 1 }).waitFor();
}

async function signOut(): Promise<void> {
  await window.page.getByRole("button", { name: OWNER.email }).click();
  await window.page.getByRole("menuitem", { name: "Sign out" }).click();
  await heading("Sign in");
}

/** Confirms the question that a button has opened. */
async function confirm(verb: string, { page } = window): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name: verb, exact: true }).click();
}

test("a passkey is added with a name and signs in, and is refused once it is removed", async () => {
  const authenticator = await addAuthenticator(window.page);
  await window.goto("/settings/account");
  await window.page.getByText("You have no passkey yet.").waitFor();
  await window.page.getByLabel("Name of the passkey").fill("Laptop");
  await window.page.getByRole("button", { name: "Add a passkey" }).click();
  await window.page.getByText("Laptop", { exact: true }).waitFor();
  await window.page.getByText(/never used/).waitFor();
  // Its message would lie over the page; screen readers have it elsewhere.
  await window.page.locator('[aria-label="Close"]').click();
  faults.push(...(await window.faultsInAllLooks("account")));
  await window.page.getByLabel("Name of the passkey").fill("Again");
  await window.page.getByRole("button", { name: "Add a passkey" }).click();
  await window.page.getByText("This device has a passkey for your account already.").waitFor();

  await signOut();
  faults.push(...(await window.faultsInAllLooks("sign-in-with-passkey")));
  await window.page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await heading("Overview");
  await window.goto("/settings/account");
  await window.page.getByRole("button", { name: "Remove Laptop" }).click();
  await confirm("Remove");
  await window.page.getByText("You have no passkey yet.").waitFor();
  await signOut();
  await window.page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await window.page.getByText("The passkey was not accepted.").waitFor();
  await authenticator.detach();
});

test("the page of a link sets a new password, and the sessions of the account end", async () => {
  const other = await ConsolePage.open(chromium, origin);
  await signIn(other, OWNER.password);
  await window.goto(await consoleLink(pilvi));
  await heading("Set a new password");
  const field = window.page.getByLabel("New password");
  await field.fill("short");
  await window.page.getByRole("button", { name: "Set the password and sign in" }).click();
  await until("the fault is shown", async () => (await field.getAttribute("aria-invalid")) === "true");
  faults.push(...(await window.faultsInAllLooks("recovery")));
  await field.fill(NEW_PASSWORD);
  await window.page.getByRole("button", { name: "Set the password and sign in" }).click();
  await heading("Overview");
  await heading("Sign in", other);
  await signIn(other, NEW_PASSWORD);
  await window.goto("/settings/account");
  await window.page.getByRole("button", { name: "End the session" }).click();
  await confirm("End");
  await heading("Sign in", other);
  await other.close();
});

async function signIn(other: ConsolePage, password: string): Promise<void> {
  await other.goto("/sign-in");
  await other.page.getByLabel("E-mail").fill(OWNER.email);
  await other.page.getByLabel("Password").fill(password);
  await other.page.getByRole("button", { name: "Sign in", exact: true }).click();
  await heading("Overview", other);
}

test("the name of the account is changed, and a wrong address is said at its field", async () => {
  await window.goto("/settings/account");
  const field = window.page.getByLabel("E-mail");
  await field.fill("no address");
  await window.page.getByRole("button", { name: "Save" }).click();
  await until("the fault is shown", async () => (await field.getAttribute("aria-invalid")) === "true");
  await field.fill(OWNER.email);
  await window.page.getByLabel("Your name").fill("Ada L.");
  await window.page.getByRole("button", { name: "Save" }).click();
  await window.page.getByText("Your account is changed.").waitFor();
});

test("an organization is made and shown in every tab, with a stream of its own", async () => {
  const cache = await pilvi.createCache({ name: "of-default" });
  const tab = await window.openTab();
  await tab.goto("/caches");
  await tab.page.getByRole("link", { name: "of-default" }).waitFor();
  await window.goto("/settings/organizations");
  await window.page.getByLabel("Name", { exact: true }).fill("x");
  await window.page.getByRole("button", { name: "Make the organization" }).click();
  await until("the fault is shown", async () => {
    return (await window.page.getByLabel("Name", { exact: true }).getAttribute("aria-invalid")) === "true";
  });
  await window.page.getByLabel("Name", { exact: true }).fill("Side project");
  await window.page.getByRole("button", { name: "Make the organization" }).click();
  for (const each of [window, tab]) {
    await heading("Overview", each);
    await each.page.getByText("You have no caches yet.").waitFor();
    await each.page.getByRole("button", { name: `Side project ${OWNER.email}` }).waitFor();
    await each.page.getByText("Live", { exact: true }).waitFor();
  }
  await window.page.getByRole("button", { name: `Side project ${OWNER.email}` }).click();
  await window.page.getByRole("menuitem", { name: "default" }).click();
  for (const each of [window, tab]) {
    await each.page.getByRole("link", { name: /^of-default/ }).waitFor();
    await each.page.getByText("Live", { exact: true }).waitFor();
  }
  await pilvi.api("PATCH", `/caches/${cache.id}`, { name: "renamed" });
  for (const each of [window, tab]) await each.page.getByRole("link", { name: /^renamed/ }).waitFor();
  await tab.close();
});

test("an organization is renamed, and deleted once its name was typed", async () => {
  await window.goto("/settings/organizations");
  await window.page.getByRole("button", { name: "Rename Side project" }).click();
  await window.page.getByLabel("New name").fill("School");
  await window.page.getByRole("button", { name: "Save the name" }).click();
  await window.page.getByRole("button", { name: "Open School" }).waitFor();
  faults.push(...(await window.faultsInAllLooks("organizations")));
  await window.page.getByRole("button", { name: "Leave School" }).click();
  await confirm("Leave");
  await window.page.getByText("The organization must keep an owner.").first().waitFor();
  await window.page.keyboard.press("Escape");
  await window.page.getByRole("button", { name: "Open School" }).click();
  await heading("Overview");
  await window.goto("/settings/organizations");
  await window.page.getByRole("button", { name: "Delete School" }).click();
  const verb = window.page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true });
  expect(await verb.isDisabled()).toBe(true);
  await window.page.getByLabel("Type School to confirm").fill("School");
  await verb.click();
  await window.page.getByText("School is deleted.").waitFor();
  await window.goto("/caches");
  await heading("Choose an organization");
  faults.push(...(await window.faultsInAllLooks("choose-organization")));
  await window.page.getByRole("button", { name: "Open default" }).click();
  await window.page.getByRole("link", { name: /^renamed/ }).waitFor();
});

test("seven tabs share one stream: all are live, and go on when the leading tab freezes or closes", async () => {
  const tabs = [window];
  while (tabs.length < 7) tabs.push(await window.openTab());
  // The requests of a page wait for a free connection, of which a browser has six.
  for (const tab of tabs) await tab.goto("/caches");
  for (const tab of tabs) await tab.page.getByText("Live", { exact: true }).waitFor();
  const [cache] = (await pilvi.api<{ data: { id: string }[] }>("GET", "/caches")).body.data;
  const appears = async (name: string, among: readonly ConsolePage[]) => {
    await pilvi.api("PATCH", `/caches/${cache?.id}`, { name });
    for (const tab of among) await tab.page.getByRole("link", { name }).waitFor();
  };
  await appears("in-seven", tabs);
  const [first = window, second = window] = tabs;
  const debug = await first.context.newCDPSession(first.page);
  await debug.send("Page.setWebLifecycleState", { state: "frozen" });
  await appears("after-freeze", tabs.slice(1));
  await debug.send("Page.setWebLifecycleState", { state: "active" });
  await appears("after-thaw", tabs);
  await debug.detach();
  await second.close();
  await appears("after-close", [first, ...tabs.slice(2)]);
  for (const tab of tabs.slice(2)) await tab.close();
});

test("axe-core finds no fault in any page, theme and width", () => {
  expect(faults).toEqual([]);
});

test("no page asks another host or writes an error", () => {
  expect(window.foreign).toEqual([]);
  // A browser writes every answer 401, 404, 409 and 422 into its console.
  expect(window.errors.filter((error) => !error.startsWith("Failed to load resource"))).toEqual([]);
});
