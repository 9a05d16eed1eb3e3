// The answers about accounts, members, organizations and tokens conform to the OpenAPI document.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { startApi, type TestApi } from "../support/api/api.ts";
import { memberOf, ownerOf, PASSWORD, type Browser } from "../support/api/browser.ts";
import { documentOf, expectDocumented, type Document } from "../support/api/openapi.ts";

let api: TestApi;
let document: Document;
let owner: Browser;
beforeAll(async () => {
  api = await startApi();
  document = await documentOf(api);
  owner = await ownerOf(api);
  await memberOf(api, owner, "viewer", "viewer@example.com");
});
afterAll(() => api.stop());

const token = {
  name: "laptop",
  abilities: ["caches:read"],
  expires_at: "2100-01-01T00:00:00Z",
  limits: { resources: 1 },
};
const login = { email: "ada@example.com", password: PASSWORD };

test.each<[method: string, path: string, documented: string, status: number, body?: object]>([
  ["POST", "/sessions", "/sessions", 201, login],
  ["POST", "/sessions", "/sessions", 401, { ...login, password: "wrong" }],
  ["POST", "/sessions", "/sessions", 422, {}],
  ["GET", "/sessions", "/sessions", 200],
  ["GET", "/users/me", "/users/me", 200],
  ["PATCH", "/users/me", "/users/me", 200, { name: "Ada L." }],
  ["PATCH", "/users/me", "/users/me", 422, { email: "viewer@example.com" }],
  [
    "PUT",
    "/users/me/password",
    "/users/me/password",
    204,
    { current_password: PASSWORD, password: PASSWORD },
  ],
  ["POST", "/sign-in-links/redeem", "/sign-in-links/redeem", 422, { secret: "none", password: PASSWORD }],
  ["GET", "/passkeys", "/passkeys", 200],
  ["POST", "/passkeys/options", "/passkeys/options", 409],
  ["POST", "/passkeys", "/passkeys", 422, { credential: {} }],
  ["DELETE", "/passkeys/none", "/passkeys/{id}", 404],
  ["POST", "/sessions/passkey-options", "/sessions/passkey-options", 409],
  ["GET", "/members?per_page=1&page=2", "/members", 200],
  ["DELETE", "/members/none", "/members/{id}", 404],
  ["POST", "/invitations", "/invitations", 201, { role: "owner", email: "Eve@example.com" }],
  ["POST", "/invitations", "/invitations", 422, { role: "king" }],
  ["GET", "/invitations", "/invitations", 200],
  ["POST", "/invitations/accept", "/invitations/accept", 422, { secret: "none" }],
  ["GET", "/organizations", "/organizations", 200],
  ["POST", "/organizations", "/organizations", 201, { name: "School" }],
  ["POST", "/organizations", "/organizations", 422, { name: "S" }],
  ["PATCH", "/organizations/none", "/organizations/{id}", 404, { name: "Other" }],
  ["DELETE", "/organizations/none", "/organizations/{id}", 404],
  ["DELETE", "/organizations/none/membership", "/organizations/{id}/membership", 404],
  ["POST", "/tokens", "/tokens", 201, token],
  ["POST", "/tokens", "/tokens", 422, { ...token, abilities: ["dogs:read"] }],
  ["GET", "/tokens", "/tokens", 200],
  ["GET", "/tokens/abilities", "/tokens/abilities", 200],
  ["DELETE", "/tokens/none", "/tokens/{id}", 404],
  ["GET", "/meta/organization", "/meta/organization", 200],
  ["PATCH", "/sessions/current", "/sessions/{id}", 422, { organization_id: "none" }],
  ["DELETE", "/sessions/none", "/sessions/{id}", 404],
])("%s %s as %s answers %p as documented", async (...row) => {
  // With parameters of its own, the function of a shorter row would get a callback as its last one.
  const [method, path, documented, status, body] = row;
  const response = await fetch(`${api.origin}/api${path}`, {
    method,
    headers: {
      Origin: api.origin,
      Cookie: owner.cookie ?? "",
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  expect(response.status).toBe(status);
  await expectDocumented(document, documented, method.toLowerCase(), response);
});

test("a token is refused where a user is needed, as documented", async () => {
  const response = await api.request("/api/users/me");
  expect(response.status).toBe(403);
  await expectDocumented(document, "/users/me", "get", response);
});
