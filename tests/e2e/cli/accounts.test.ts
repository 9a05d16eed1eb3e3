// `pilvi tokens` and `pilvi members` against a real API.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { fakeIo, runCommand } from "../../../src/cli/test-support.ts";
import { PilviClient } from "../../../src/sdk/index.ts";
import { startApi, type TestApi } from "../../support/api/api.ts";
import { memberOf, ownerOf, PASSWORD, secretIn, Browser } from "../../support/api/browser.ts";

let api: TestApi;
let url: string;
let server: Bun.Server<undefined>;
beforeAll(async () => {
  api = await startApi();
  // The commands of the test send a token of their own, and the API wants this one.
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      request.headers.set("Authorization", `Bearer ${api.token}`);
      return api.app.fetch(request);
    },
  });
  url = server.url.origin;
});
afterAll(async () => {
  await server.stop(true);
  await api.stop();
});

async function pilvi(...args: string[]): Promise<string> {
  const io = fakeIo();
  await runCommand(io, url, ...args);
  return io.stdout;
}

test("tokens are created, listed and revoked", async () => {
  const token = (
    await pilvi("tokens", "create", "laptop", "--abilities", "caches:read", "--expires", "30d")
  ).trim();
  expect((await api.request("/api/caches", { token })).status).toBe(200);
  expect(await pilvi("tokens", "list")).toMatch(/^laptop +caches:read +\S.* token-[\w-]+$/m);
  expect(await pilvi("tokens", "revoke", "laptop")).toMatch(/^Revoked laptop \(token-/);
  expect((await api.request("/api/caches", { token })).status).toBe(401);
  await expect(pilvi("tokens", "revoke", "laptop")).rejects.toThrow("There is no token laptop.");
  await expect(pilvi("tokens", "create", "x", "--abilities", "dogs:read")).rejects.toThrow("abilities");
  await expect(pilvi("tokens", "create", "x", "--expires", "2001-01-01")).rejects.toThrow("a time to come");
});

test("members are invited, listed and removed", async () => {
  const owner = await ownerOf(api);
  await memberOf(api, owner, "viewer", "viewer@example.com");
  const link = (await pilvi("members", "invite", "--role", "developer", "--email", "dev@example.com")).trim();
  expect(link).toStartWith(`${url}/invitation#`);
  const body = { secret: secretIn(link), email: "dev@example.com", name: "Dev", password: PASSWORD };
  expect((await new Browser(api).send("POST", "/invitations/accept", body)).status).toBe(201);
  expect(await pilvi("members", "list")).toMatch(/^Dev +dev@example.com +developer/m);
  expect(await pilvi("members", "remove", "Dev@example.com", "--yes")).toBe("Removed dev@example.com.\n");
  expect(await pilvi("members", "list")).not.toContain("dev@example.com");
  await expect(pilvi("members", "remove", "nobody@example.com", "--yes")).rejects.toThrow(
    "There is no member",
  );
});

test("the client reads lists to their end, and abilities with their sentences", async () => {
  const client = new PilviClient({ url, token: api.token });
  for (let n = 0; n < 101; n++) await api.newToken(["caches:read"]);
  const tokens = await Array.fromAsync(client.tokens.all());
  expect(new Set(tokens.map(({ id }) => id)).size).toBeGreaterThan(101);
  const { data } = await client.tokens.abilities();
  expect(data.find(({ id }) => id === "caches:read")?.attributes.is_grantable).toBe(true);
});
