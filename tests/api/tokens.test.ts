// Tokens through the API: shown once, never more able than their maker, revoked at once.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { memberOf, ownerOf, type Answer, type Browser } from "../support/api/browser.ts";

let api: TestApi;
let owner: Browser;
let developer: Browser;
beforeAll(async () => {
  api = await startApi();
  owner = await ownerOf(api);
  developer = await memberOf(api, owner, "developer", "developer@example.com");
});
afterAll(() => api.stop());

const statusFor = async (token: string) => (await api.request("/api/caches", { token })).status;
const textOf = ({ data }: Answer) => String(data.attributes.token);
const namesFor = async (browser: Browser) => {
  const { body } = await browser.send("GET", "/tokens");
  const { data } = body as unknown as { data: { attributes: { name: string } }[] };
  return data.map(({ attributes }) => attributes.name);
};

test("a token is shown once, works, and ends when it is revoked", async () => {
  const made = await owner.send("POST", "/tokens", {
    name: "<i>laptop</i>",
    abilities: ["caches:read", "caches:read"],
  });
  expect(made.status).toBe(201);
  expect(made.body.data.attributes).toMatchObject({
    name: "<i>laptop</i>",
    abilities: ["caches:read"],
    created_by: "Ada",
    expires_at: null,
    last_used_at: null,
  });
  const token = textOf(made.body);
  expect(await statusFor(token)).toBe(200);
  const denied = await api.request("/api/caches", { token, json: validCache });
  expect(await denied.json()).toEqual({
    message: "This action is unauthorized. It needs the ability `caches:write`.",
  });
  expect(JSON.stringify((await owner.send("GET", "/tokens")).body)).not.toContain(token);
  const stream = (await api.request("/api/events?follow", { token })).text();
  expect((await owner.send("DELETE", `/tokens/${made.body.data.id}`)).status).toBe(204);
  expect(await stream).toContain("retry:");
  expect(await statusFor(token)).toBe(401);
  expect((await owner.send("DELETE", `/tokens/${made.body.data.id}`)).status).toBe(404);
  const audit = await api.db`
    select action, user_id is not null as "isByUser" from audit where resource_id = ${made.body.data.id} order by id`;
  expect(audit).toEqual([
    { action: "create", isByUser: true },
    { action: "revoke", isByUser: true },
  ]);
});

describe("a new token", () => {
  test.each([
    [{ abilities: ["caches:read"] }, "name"],
    [{ name: "x", abilities: [] }, "abilities"],
    [{ name: "x", abilities: ["dogs:read"] }, "abilities"],
    [{ name: "x", abilities: ["*"], expires_at: "2001-01-01T00:00:00Z" }, "expires_at"],
    [{ name: "x", abilities: ["*"], expires_at: "tomorrow" }, "expires_at"],
    [{ name: "x", abilities: ["*"], limits: { resources: 0 } }, "limits.resources"],
    [{ name: "x".repeat(101), abilities: ["*"] }, "name"],
  ])("%j is refused", async (body, field) => {
    const answer = await owner.send("POST", "/tokens", body);
    expect([answer.status, Object.keys(answer.body.errors ?? {})]).toEqual([422, [field]]);
  });

  test("has the limits and the end that it was made with", async () => {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const body = { name: "short", abilities: ["*"], expires_at: expires, limits: { resources: 1 } };
    const made = await owner.send("POST", "/tokens", body);
    expect(made.body.data.attributes).toMatchObject({
      expires_at: expires.replace("Z", "000Z"),
      limits: { resources: 1, memory_bytes: null, storage_bytes: null, connections: null },
    });
    const token = textOf(made.body);
    expect((await api.request("/api/caches", { token, json: validCache })).status).toBe(201);
    expect((await api.request("/api/caches", { token, json: validCache })).status).toBe(422);
    const child = await api.request("/api/tokens", { token, json: { name: "child", abilities: ["*"] } });
    expect(child.status).toBe(403);
  });

  test("of a token is neither more able nor longer valid", async () => {
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    const abilities = ["caches:read", "tokens:write"];
    const made = await owner.send("POST", "/tokens", { name: "maker", abilities, expires_at: expires });
    const token = textOf(made.body);
    const create = async (json: object) => (await api.request("/api/tokens", { token, json })).status;
    expect(await create({ name: "more", abilities: ["caches:write"], expires_at: expires })).toBe(403);
    expect(await create({ name: "all", abilities: ["*"], expires_at: expires })).toBe(403);
    expect(await create({ name: "longer", abilities: ["caches:read"] })).toBe(422);
    expect(await create({ name: "less", abilities: ["caches:read"], expires_at: expires })).toBe(201);
  });
});

describe("a developer", () => {
  test("makes, sees and revokes tokens of their own only", async () => {
    const others = await owner.send("POST", "/tokens", { name: "of the owner", abilities: ["*"] });
    const own = await developer.send("POST", "/tokens", { name: "own", abilities: ["caches:write"] });
    expect(own.status).toBe(201);
    expect(await namesFor(developer)).toEqual(["own"]);
    expect(await namesFor(owner)).toContainValues(["own", "of the owner"]);
    expect((await developer.send("DELETE", `/tokens/${others.body.data.id}`)).status).toBe(404);
    expect(await statusFor(textOf(others.body))).toBe(200);
    expect((await developer.send("DELETE", `/tokens/${own.body.data.id}`)).status).toBe(204);
  });

  test.each([["*"], ["tokens:write"], ["members:write"]])("cannot give %s to a token", async (ability) => {
    const answer = await developer.send("POST", "/tokens", {
      name: "more",
      abilities: ["caches:read", ability],
    });
    expect(answer.status).toBe(403);
    expect(answer.body.message).toContain(`\`${ability}\``);
  });
});

test("all abilities are listed, with those that the client may pass on", async () => {
  const { body } = await developer.send("GET", "/tokens/abilities");
  const { data } = body as unknown as {
    data: { id: string; attributes: { description: string; is_grantable: boolean } }[];
  };
  for (const { attributes } of data) expect(attributes.description).toEndWith(".");
  const grantable = data.filter(({ attributes }) => attributes.is_grantable).map(({ id }) => id);
  expect(grantable).toContainValues(["caches:read", "databases:credentials", "metrics:read"]);
  expect(grantable).not.toContainAnyValues(["*", "tokens:write", "members:write"]);
});
