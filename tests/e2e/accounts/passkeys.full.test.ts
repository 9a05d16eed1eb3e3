// Passkeys in a real Chromium with a virtual authenticator: made, used to sign in, replayed, and removed.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { startApi, type TestApi } from "../../support/api/api.ts";
import { PASSWORD } from "../../support/api/browser.ts";
import { addAuthenticator } from "../../support/clients/authenticator.ts";
import { startChromium, type TestBrowser } from "../../support/clients/chromium.ts";
import { startPilvi, type TestPilvi } from "../../support/pilvi/pilvi.ts";

const START_TIMEOUT_MS = 240_000;

let api: TestApi;
/** The built program, whose bundle must hold the checks too. */
let pilvi: TestPilvi;
let chromium: TestBrowser;
let page: Page;
beforeAll(async () => {
  api = await startApi();
  pilvi = await startPilvi();
  chromium = await startChromium();
  const context = await chromium.browser.newContext();
  page = await context.newPage();
  await addAuthenticator(page);
  await page.goto(`${pilvi.url.replace("127.0.0.1", "localhost")}/docs`);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await chromium.close();
  await pilvi.close();
  await api.stop();
});

interface PageAnswer {
  status: number;
  body: { data: Record<string, unknown> & { id: string }; message?: string };
}

/** Sends a request from the page itself, with its cookies and origin. */
async function send(method: string, path: string, json?: unknown): Promise<PageAnswer> {
  return (await page.evaluate(
    async ([verb, address, body]) => {
      const response = await fetch(`/api${address}`, {
        method: verb,
        ...(body !== undefined && { headers: { "Content-Type": "application/json" }, body }),
      });
      const text = await response.text();
      return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
    },
    [method, path, json === undefined ? undefined : JSON.stringify(json)] as const,
  )) as PageAnswer;
}

/** Has the browser's authenticator make a passkey or sign, as the script of a page does. */
async function authenticator(call: "create" | "get", options: unknown): Promise<object> {
  const parse = call === "create" ? "parseCreationOptionsFromJSON" : "parseRequestOptionsFromJSON";
  const publicKey = `PublicKeyCredential.${parse}(${JSON.stringify(options)})`;
  return (await page.evaluate(
    `navigator.credentials.${call}({ publicKey: ${publicKey} }).then((made) => made.toJSON())`,
  )) as object;
}

test("a passkey is made, signs in without a password, and neither its answer nor its challenge works twice", async () => {
  const [, secret = ""] = /\/welcome#(\w+)/.exec(pilvi.printed) ?? [];
  const account = { secret, email: "ada@example.com", name: "Ada", password: PASSWORD };
  expect((await send("POST", "/sign-in-links/redeem", account)).status).toBe(201);

  const created = await authenticator("create", (await send("POST", "/passkeys/options")).body.data);
  const added = await send("POST", "/passkeys", { name: "Laptop", credential: created });
  expect([added.status, added.body.data.attributes]).toMatchObject([
    201,
    { name: "Laptop", last_used_at: null },
  ]);
  expect((await send("POST", "/passkeys", { credential: created })).status).toBe(422);

  expect((await send("DELETE", "/sessions/current")).status).toBe(204);
  expect((await send("GET", "/users/me")).status).toBe(401);
  const request = (await send("POST", "/sessions/passkey-options")).body.data;
  const signed = await authenticator("get", request);
  const begun = await send("POST", "/sessions/passkey", { credential: signed });
  expect([begun.status, begun.body]).toMatchObject([201, { data: { type: "sessions" } }]);
  expect((await send("GET", "/users/me")).body.data.attributes).toMatchObject({ email: "ada@example.com" });
  expect((await send("POST", "/sessions/passkey", { credential: signed })).status).toBe(401);

  const forged = { ...request, challenge: Buffer.alloc(54, 7).toString("base64url") };
  const withForged = await authenticator("get", forged);
  expect((await send("POST", "/sessions/passkey", { credential: withForged })).status).toBe(401);

  // A challenge for a new passkey is none for a sign-in.
  const other = (await send("POST", "/passkeys/options")).body.data;
  const mixed = await authenticator("get", { ...request, challenge: other.challenge });
  expect((await send("POST", "/sessions/passkey", { credential: mixed })).status).toBe(401);

  const { id } = added.body.data;
  expect((await send("DELETE", `/passkeys/${id}`)).status).toBe(204);
  const fresh = (await send("POST", "/sessions/passkey-options")).body.data;
  const removed = await authenticator("get", fresh);
  expect((await send("POST", "/sessions/passkey", { credential: removed })).status).toBe(401);

  const activity = await pilvi.api<{ data: { attributes: Record<string, unknown> }[] }>(
    "GET",
    "/activity?filter[kind]=sessions,users,passkeys,sign-in-links",
  );
  const all = activity.body.data.map(({ attributes }) => attributes).toReversed();
  expect(all).toMatchObject([
    { action: "redeem", kind: "sign-in-links", details: { purpose: "first-account" } },
    { action: "sign-in", kind: "sessions", details: { method: "link" } },
    { action: "create", kind: "passkeys", resource_id: id, details: { name: "Laptop" } },
    { action: "sign-out", kind: "sessions" },
    { action: "sign-in", kind: "sessions", details: { method: "passkey" } },
    { action: "fail-sign-in", kind: "users", actor: null, details: { method: "passkey", attempts: 3 } },
    { action: "delete", kind: "passkeys", resource_id: id, details: { name: "Laptop" } },
  ]);
});

test("under an IP address the options say where passkeys work", async () => {
  const response = await fetch(`${api.origin}/api/sessions/passkey-options`, { method: "POST" });
  expect(response.status).toBe(409);
  expect(await response.json()).toEqual({
    message: `Passkeys need a host name. On this machine, open ${api.origin.replace("127.0.0.1", "localhost")} instead.`,
  });
});

test("under a host name without HTTPS there are no passkeys", async () => {
  const headers = { Host: "cloud.example" };
  const response = await fetch(`${api.origin}/api/sessions/passkey-options`, { method: "POST", headers });
  expect([response.status, await response.json()]).toEqual([
    409,
    { message: "Passkeys need HTTPS, except under localhost." },
  ]);
});
