// Attacks through a browser: a flood of passwords, pages of other origins, planted cookies, and markup in every name.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createClient } from "redis";
import { addAuthenticator } from "../../support/clients/authenticator.ts";
import { ConsolePage } from "../../support/console/console-page.ts";
import { pagePaths } from "../../support/console/page-paths.ts";
import { makeOwner, OWNER } from "../../support/console/sign-in.ts";
import { CONSOLE_START_MS, startConsole, type TestConsole } from "../../support/console/start.ts";
import { bunServer, TestApplication } from "../../support/pilvi/applications.ts";
import { createCluster } from "../../support/pilvi/databases.ts";
import { type TestPilvi, until } from "../../support/pilvi/pilvi.ts";
import { createServer } from "../../support/pilvi/websockets.ts";

/** What a script would do, in the ways that markup has to run a script. */
const MARKUP = `"><img src=x onerror=pwned=1><script>pwned=1</script>'`;

/** A delay within which a browser can try another password. */
const LONG_DELAY_SECONDS = 10;

const HOSTILE_EMAIL = "<img/src=x/onerror=pwned=1>@example.com";

let served: TestConsole;
let pilvi: TestPilvi;
/** Browsers have passkeys under this name, and under no IP address. */
let origin: string;
let window: ConsolePage;

beforeAll(async () => {
  served = await startConsole();
  ({ pilvi } = served);
  origin = pilvi.url.replace("127.0.0.1", "localhost");
  window = await ConsolePage.open(served.chromium, origin, { userAgent: `Mozilla ${MARKUP}` });
  await makeOwner(window, pilvi);
}, CONSOLE_START_MS);

afterAll(async () => await served.close());

async function signIn({ page }: ConsolePage, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(OWNER.email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Sends a request from the page itself, with its cookies and origin. */
async function send(
  method: string,
  path: string,
  json?: object,
): Promise<{ data: { meta: { organization_id: string } } }> {
  return await window.page.evaluate(
    async ([verb, address, body]) => {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch(`/api${address}`, { method: verb, headers, body });
      if (!answer.ok) throw new Error(`${verb} ${address}: ${answer.status} ${await answer.text()}`);
      const text = await answer.text();
      return text === "" ? {} : JSON.parse(text);
    },
    [method, path, json === undefined ? null : JSON.stringify(json)] as const,
  );
}

const isSignedIn = async () => {
  await window.goto("/settings/account");
  return await window.page
    .getByRole("heading", { name: "Account", level: 1 })
    .waitFor({ timeout: 20_000 })
    .then(() => true);
};

test("a page of another origin changes nothing with the reader's session, and signs nobody in", async () => {
  const { cookies } = await window.context.storageState();
  const target = origin;
  const attempts = `
    const post = (path, type, body, extra = {}) =>
      fetch("${target}/api" + path, { method: "POST", credentials: "include", mode: "no-cors",
        headers: { "Content-Type": type }, body, ...extra }).then((answer) => answer.type, String);
    const cache = JSON.stringify({ type: "platform_valkey", name: "forged", region: "eu-central-1", size: "valkey-flex-250mb" });
    Promise.all([
      post("/caches", "text/plain", cache),
      post("/caches", "application/json", cache, { mode: "cors" }),
      post("/sessions", "text/plain", JSON.stringify({ email: "${OWNER.email}", password: "${OWNER.password}" })),
      fetch("${target}/api/sessions/current", { method: "DELETE", credentials: "include" }).catch(String),
      fetch("${target}/api/users/me", { credentials: "include" }).then((answer) => answer.text(), String),
      new Promise((resolve) => {
        const frame = Object.assign(document.createElement("iframe"), { src: "${target}/caches/new", onload: resolve });
        document.body.append(frame);
      }),
    ]).then((results) => {
      document.title = JSON.stringify(results.slice(0, 5));
      const form = Object.assign(document.createElement("form"),
        { method: "post", action: "${target}/api/caches", enctype: "text/plain" });
      form.append(Object.assign(document.createElement("input"), { name: cache.slice(0, -1) + ',"x":"', value: '"}' }));
      document.body.append(form);
      document.querySelector("button").onclick = () => form.submit();
    });`;
  const page = `<!doctype html><title>Working</title><body><button>Win a prize</button><script>${attempts}</script>`;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(page, { headers: { "content-type": "text/html" } }),
  });
  try {
    // The same host on another port is the same site to a browser, which then sends the strictest of cookies.
    for (const host of ["localhost", "127.0.0.1"]) {
      const evil = await window.context.newPage();
      await evil.goto(`http://${host}:${server.port}/`);
      await until("the page has tried everything", async () => (await evil.title()).startsWith("["));
      expect(await evil.title()).not.toContain(OWNER.email);
      expect(evil.frames().every((frame) => !frame.url().startsWith(`${target}/caches`))).toBe(true);
      await Promise.all([evil.waitForURL(`${target}/api/caches`), evil.click("button")]);
      // Of another site no cookie is sent at all.
      const refusal = host === "localhost" ? "must come from a page of this address" : "Unauthenticated";
      expect(await evil.content()).toContain(refusal);
      await evil.close();
    }
  } finally {
    await server.stop(true);
  }
  const caches = await pilvi.api<{ data: unknown[] }>("GET", "/caches");
  expect(caches.body.data).toEqual([]);
  expect((await window.context.storageState()).cookies).toEqual(cookies);
  expect(await isSignedIn()).toBe(true);
});

test("a cookie that was planted before the sign-in gets no rights by it", async () => {
  const victim = await ConsolePage.open(served.chromium, pilvi.url);
  const name = "pilvi_session";
  const planted = "p".repeat(43);
  await victim.context.addCookies([{ name, value: planted, url: pilvi.url }]);
  await victim.goto("/caches");
  await signIn(victim, OWNER.password);
  await victim.page.getByRole("heading", { name: "Caches", level: 1 }).waitFor();
  const [cookie] = await victim.context.cookies();
  expect(cookie).toMatchObject({ name, httpOnly: true, sameSite: "Strict" });
  expect(cookie?.value).not.toBe(planted);
  const asked = (value: string) =>
    fetch(`${pilvi.url}/api/users/me`, { headers: { cookie: `${name}=${value}` } });
  expect((await asked(planted)).status).toBe(401);
  expect((await asked(cookie?.value ?? "")).status).toBe(200);
  expect(await victim.page.evaluate("document.cookie")).toBe("");
  await victim.page.getByRole("button", { name: OWNER.email }).click();
  await victim.page.getByRole("menuitem", { name: "Sign out" }).click();
  await victim.page.getByRole("heading", { name: "Sign in" }).waitFor();
  // A cookie that was copied before is worth nothing after.
  expect((await asked(cookie?.value ?? "")).status).toBe(401);
  await victim.close();
});

/** An application with markup in its variables, its log, its processes and its commands; its name accepts none. */
async function deployHostile() {
  const application = await TestApplication.create(pilvi);
  const path = `/environments/${application.environmentId}`;
  await pilvi.api("POST", `${path}/variables`, {
    method: "set",
    variables: [{ key: "HOSTILE", value: MARKUP }],
  });
  const files = bunServer("hello");
  files["server.ts"] += `\nconsole.log(process.env.HOSTILE, ${JSON.stringify(MARKUP)});`;
  const { id: deployment } = await application.deploy(files);
  const { body } = await pilvi.api<{ data: { id: string } }>("POST", `${path}/commands?wait=30`, {
    command: `cat <<'END'\n${MARKUP}\nEND\n`,
  });
  const instances = await pilvi.api<{ data: { id: string }[] }>("GET", `${path}/instances`);
  await pilvi.api("POST", `/instances/${instances.body.data[0]?.id}/background-processes`, {
    type: "custom",
    processes: 1,
    command: `sleep 600 # ${MARKUP}`,
  });
  return {
    application: application.id,
    environment: application.environmentId,
    deployment,
    command: body.data.id,
  };
}

// A visit to all pages takes minutes on a busy machine.
test("markup in every name that accepts it is shown as text on every page", async () => {
  const [cluster, cache, server, hostile] = await Promise.all([
    createCluster(pilvi),
    pilvi.createCache({}),
    createServer(pilvi),
    deployHostile(),
  ]);
  const { hostname, port, username, password } = cache.attributes.connection;
  const client = await createClient({
    url: `redis://${username}:${password}@${hostname}:${port}`,
  }).connect();
  await client.set(MARKUP, MARKUP);
  await client.close();
  const authenticator = await addAuthenticator(window.page);
  await window.goto("/settings/account");
  const me = await send("GET", "/users/me");
  await send("PATCH", "/users/me", { name: MARKUP });
  await send("PATCH", `/organizations/${me.data.meta.organization_id}`, { name: MARKUP });
  await send("POST", "/tokens", { name: MARKUP, abilities: ["caches:read"] });
  await send("POST", "/invitations", { role: "viewer", email: HOSTILE_EMAIL });
  await window.page.getByLabel("Name of the passkey").fill(MARKUP);
  await window.page.getByRole("button", { name: "Add a passkey" }).click();
  await window.page.getByText(MARKUP, { exact: true }).first().waitFor();
  await authenticator.detach();
  const ids: Record<string, string> = {
    databases: cluster.id,
    caches: cache.id,
    websockets: server.id,
    applications: hostile.application,
  };
  for (const path of pagePaths()) {
    const [, kind = ""] = path.split("/");
    const filled = path
      .replace("$id", ids[kind] ?? "")
      .replace("$application", server.main.id)
      .replace("$environment", hostile.environment)
      .replace("$deployment", hostile.deployment)
      .replace("$command", hostile.command);
    const searched = `${filled}?q=${encodeURIComponent(MARKUP)}&next=${encodeURIComponent("javascript:window.pwned=1")}`;
    for (const address of [filled, searched]) {
      await window.goto(address);
      await window.page.getByRole("heading", { level: 1 }).first().waitFor();
      const found = await window.page.evaluate(
        "[typeof window.pwned, document.querySelectorAll('[onerror], [src=x], body script').length]",
      );
      expect([address, found]).toEqual([address, ["undefined", 0]]);
    }
  }
  const environment = `/applications/${hostile.application}/environments/${hostile.environment}`;
  for (const page of ["", "/variables", "/logs", `/commands/${hostile.command}`]) {
    await window.goto(environment + page);
    // Values of variables are shown once they are asked for.
    if (page === "/variables") await window.page.getByRole("button", { name: "Show the values" }).click();
    await window.page.getByText(MARKUP, { exact: false }).first().waitFor();
  }
  await window.goto(`/caches/${cache.id}/keys`);
  await window.page.getByText(MARKUP, { exact: false }).first().waitFor();
  await window.goto("/settings/members");
  await window.page.getByText(MARKUP, { exact: false }).first().waitFor();
  await window.page.getByText(HOSTILE_EMAIL).first().waitFor();
  await window.goto("/activity");
  await window.page.getByText(MARKUP, { exact: false }).first().waitFor();
  expect(await window.page.evaluate("typeof window.pwned")).toBe("undefined");
  expect(window.foreign).toEqual([]);
}, 300_000);

test("a page to go on with after the sign-in is an address of the console, whatever the link says", async () => {
  for (const next of [
    "https://example.com/",
    "//example.com/",
    "javascript:window.pwned=1",
    "/\\example.com",
  ]) {
    const visitor = await ConsolePage.open(served.chromium, pilvi.url);
    await visitor.goto(`/sign-in?next=${encodeURIComponent(next)}`);
    await signIn(visitor, OWNER.password);
    await until("it has signed in", async () => (await visitor.context.cookies()).length > 0);
    await visitor.page.getByRole("button", { name: OWNER.email }).waitFor();
    expect(new URL(visitor.page.url()).origin).toBe(pilvi.url);
    expect([next, visitor.foreign]).toEqual([next, []]);
    await visitor.close();
  }
});

test("a flood of passwords is slowed down, says so, and is in the activity; a session goes on", async () => {
  const attacker = await ConsolePage.open(served.chromium, pilvi.url);
  await attacker.goto("/sign-in");
  const alert = attacker.page.getByRole("alert");
  for (let attempt = 0; attempt < 5; attempt++) {
    const answered = attacker.page.waitForResponse(/\/api\/sessions$/);
    await signIn(attacker, `wrong password ${attempt}`);
    expect((await answered).status()).toBe(401);
    await alert.getByText("The e-mail address or the password is wrong.").waitFor();
  }
  // Each further failure doubles the delay, until it is longer than what follows takes on a busy machine.
  await until("the delay is long", async () => {
    const answered = attacker.page.waitForResponse(/\/api\/sessions$/);
    await signIn(attacker, "another wrong password");
    return Number((await answered).headers()["retry-after"]) >= LONG_DELAY_SECONDS;
  });
  await alert.getByText(/^There were too many failed attempts\. Try again in \d+ seconds\.$/).waitFor();
  // Also the right password is not checked, so that nobody learns it meanwhile.
  await signIn(attacker, OWNER.password);
  await alert.getByText(/^There were too many failed attempts/).waitFor();
  expect(await attacker.context.cookies()).toEqual([]);
  expect(await attacker.faultsInAllLooks("sign-in-limited")).toEqual([]);
  const flood = await attacker.page.evaluate(
    `Promise.all(Array.from({ length: 60 }, (_, number) => fetch("/api/sessions", { method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "${OWNER.email}", password: "flood " + number }) }).then((answer) => answer.status)))`,
  );
  expect((flood as number[]).filter((status) => status === 429).length).toBeGreaterThan(57);
  await window.goto("/activity?action=fail-sign-in");
  const entry = window.page.getByText(/^Somebody failed to sign in as ada@example\.com, \d+ times$/);
  await entry.waitFor();
  expect(await entry.count()).toBe(1);
  expect(await window.faultsInAllLooks("activity-failed-sign-ins")).toEqual([]);
  await attacker.close();
});
