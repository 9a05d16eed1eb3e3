// Access: tokens, abilities and organizations, and the tokens that see credentials.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createToken, ensureToken, listTokens, revokeToken } from "../../src/api/auth/tokens.ts";
import { unknownAbilities } from "../../src/api/auth/abilities.ts";
import { allOperations, kinds } from "../../src/resources/index.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";

let api: TestApi;
let id: string;
beforeAll(async () => {
  api = await startApi();
  const response = await api.request("/api/caches", { json: validCache });
  ({ id } = ((await response.json()) as { data: { id: string } }).data);
});
afterAll(() => api.stop());

const statusFor = async (token: string | null) => (await api.request("/api/caches", { token })).status;

describe("a request without a valid token", () => {
  const headers = [
    undefined,
    "",
    "Bearer",
    "Bearer ",
    "Basic YTpi",
    "Bearer unknown",
    "Bearer a b",
    "Bearer ä",
  ];
  test.each(headers)("with Authorization %p is 401", async (authorization) => {
    const response = await fetch(`${api.origin}/api/caches`, {
      headers: authorization === undefined ? {} : { Authorization: authorization },
    });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe("Bearer");
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ message: "Unauthenticated." });
  });

  test("with an expired or a revoked token is 401", async () => {
    const request = { organizationName: "default", abilities: ["*"] };
    const past = new Date(Date.now() - 1000);
    const expired = await createToken(api.db, [], { ...request, name: "old", expiresAt: past });
    expect(await statusFor(expired.token)).toBe(401);
    const revoked = await createToken(api.db, [], { ...request, name: "leaked" });
    expect(await statusFor(revoked.token)).toBe(200);
    await revokeToken(api.db, "leaked");
    expect(await statusFor(revoked.token)).toBe(401);
    await expect(revokeToken(api.db, "leaked")).rejects.toThrow("no token");
  });
});

describe("abilities", () => {
  test("every operation needs abilities that tokens can have", () => {
    const needed = allOperations(api.context).flatMap(({ ability }) =>
      ability === null ? [] : [ability].flat(),
    );
    expect(needed.length).toBeGreaterThan(0);
    expect(
      unknownAbilities(
        needed,
        kinds.map(({ name }) => name),
      ),
    ).toEqual([]);
  });

  test("a token with the ability to read can neither write nor see credentials", async () => {
    const token = await api.newToken(["caches:read"]);
    const response = await api.request(`/api/caches/${id}`, { token });
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(JSON.parse(text).data.attributes.connection).toEqual({
      hostname: "127.0.0.1",
      port: expect.any(Number),
      protocol: "redis",
      "": [],
    });
    const denied = await api.request("/api/caches", { token, json: validCache });
    expect(denied.status).toBe(403);
    expect(await denied.json()).toEqual({
      message: "This action is unauthorized. It needs the ability `caches:write`.",
    });
    expect((await api.request(`/api/caches/${id}`, { token, method: "DELETE" })).status).toBe(403);
  });

  test("a token with the ability to see credentials gets them under the empty name and inline", async () => {
    const token = await api.newToken(["caches:read", "caches:credentials"]);
    const document = await (await api.request(`/api/caches/${id}`, { token })).json();
    const { connection } = (document as { data: { attributes: { connection: Record<string, unknown> } } })
      .data.attributes;
    expect(connection[""]).toEqual({ username: "app", password: expect.stringMatching(/^[A-Za-z0-9]{32}$/) });
    expect(connection).toMatchObject(connection[""] as object);
  });

  test("a token with the ability to write only gets a cache without credentials", async () => {
    const token = await api.newToken(["caches:write"]);
    const response = await api.request("/api/caches", { token, json: validCache });
    expect(response.status).toBe(201);
    expect(await response.text()).not.toContain("password");
    expect(await statusFor(token)).toBe(403);
  });

  test("an unknown ability is refused", async () => {
    const request = {
      organizationName: "default",
      name: "x",
      abilities: ["caches:read", "dogs:read", "caches:own"],
    };
    await expect(createToken(api.db, ["caches"], request)).rejects.toThrow("dogs:read, caches:own");
  });
});

test("a cache of another organization is a 404", async () => {
  const token = await api.newToken(["*"], "elsewhere");
  expect((await api.request(`/api/caches/${id}`, { token })).status).toBe(404);
  expect((await api.request(`/api/caches/${id}`, { token, method: "DELETE" })).status).toBe(404);
  const list = (await (await api.request("/api/caches", { token })).json()) as { meta: { total: number } };
  expect(list.meta.total).toBe(0);
  expect((await api.request(`/api/caches/${id}`)).status).toBe(200);
});

describe("a token that the operator chooses", () => {
  const plaintext = "operators-choice-1";

  test("works however often it is ensured, and stays revoked once it is revoked", async () => {
    for (let times = 0; times < 2; times++) await ensureToken(api.db, { plaintext, name: "first" });
    expect(await statusFor(plaintext)).toBe(200);
    expect((await listTokens(api.db)).filter((token) => token.name === "first")).toHaveLength(1);
    await revokeToken(api.db, "first");
    await ensureToken(api.db, { plaintext, name: "first" });
    expect(await statusFor(plaintext)).toBe(401);
  });

  test("with the name bootstrap replaces the former bootstrap token", async () => {
    await ensureToken(api.db, { plaintext: "bootstrap-one", name: "bootstrap" });
    await ensureToken(api.db, { plaintext: "bootstrap-two", name: "bootstrap" });
    expect(await statusFor("bootstrap-one")).toBe(401);
    expect(await statusFor("bootstrap-two")).toBe(200);
  });
});

test("neither the store nor the audit has a token or password in plaintext", async () => {
  const [token] = await api.db`select * from tokens limit 1`;
  expect(JSON.stringify(token)).not.toContain("pilvi_");
  const [cache] = await api.db`select sealed_password from caches where id = ${id}`;
  const password = api.context.vault.open(cache.sealed_password, id);
  const audit = await api.db`select action, resource_kind, details from audit where resource_id = ${id}`;
  expect(audit).toHaveLength(1);
  expect(audit[0]).toMatchObject({ action: "create", resource_kind: "caches", details: validCache });
  expect(JSON.stringify(audit)).not.toContain(password);
});
