// Members, their roles, invitations and organizations.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isDefaultOrganization } from "../../src/api/auth/tokens.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { Browser, memberOf, ownerOf, PASSWORD, secretIn } from "../support/api/browser.ts";
import { documentOf } from "../support/api/openapi.ts";

let api: TestApi;
let owner: Browser;
let admin: Browser;
let developer: Browser;
let viewer: Browser;
beforeAll(async () => {
  api = await startApi();
  owner = await ownerOf(api);
  admin = await memberOf(api, owner, "admin", "admin@example.com");
  developer = await memberOf(api, admin, "developer", "developer@example.com");
  viewer = await memberOf(api, admin, "viewer", "viewer@example.com");
});
afterAll(() => api.stop());

const idOf = async (email: string) => {
  const [row] = await api.db<{ id: string }[]>`
    select m.id from members m join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
    where u.email = ${email} and o.is_default`;
  return row?.id ?? "";
};

/** Rows of every table that a request of a member could change. */
const state = async () =>
  await api.db`
    select (select json_agg(m order by id) from members m) as members,
           (select json_agg(json_build_array(id, revoked_at) order by id) from tokens) as tokens,
           (select json_agg(o order by id) from organizations o) as organizations,
           (select json_agg(i order by id) from invitations i) as invitations,
           (select count(*) from caches)::int + (select count(*) from databases)::int
             + (select count(*) from websocket_servers)::int as resources,
           (select count(*) from audit)::int as audit`;

describe("a viewer", () => {
  test("is refused every operation of the document that changes anything, and nothing changes", async () => {
    const made = await owner.send("POST", "/caches", validCache);
    const id = made.body.data.id;
    const before = await state();
    const { paths } = await documentOf(api);
    const attempts = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== "get")
        .map(([method]) => ({ path, method })),
    );
    expect(attempts.length).toBeGreaterThan(25);
    const ofOwnAccount =
      /^\/(deploy-hooks|users\/me|sessions|passkeys|sign-in-links|invitations\/accept|organizations)/;
    const tried: string[] = [];
    for (const { path, method } of attempts.filter((each) => !ofOwnAccount.test(each.path))) {
      const answer = await viewer.send(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, id), {});
      expect([method, path, answer.status]).toEqual([method, path, 403]);
      expect(answer.body.message).toMatch(/^This action is unauthorized\. It needs the ability `/);
      tried.push(`${method} ${path}`);
    }
    expect(tried).toContainValues([
      "post /caches",
      "delete /members/{id}",
      "post /tokens",
      "delete /tokens/{id}",
    ]);
    expect((await viewer.send("POST", "/organizations", { name: "own" })).status).toBe(403);
    expect(await state()).toEqual(before);
  });

  test("reads resources without credentials", async () => {
    const list = await viewer.send("GET", "/caches");
    expect(list.status).toBe(200);
    expect(JSON.stringify(list.body)).not.toContain("password");
    expect((await viewer.send("GET", "/members")).status).toBe(200);
    expect((await viewer.send("GET", "/tokens")).status).toBe(403);
  });
});

describe("a developer", () => {
  test("makes resources and sees their credentials, and does not invite members", async () => {
    const made = await developer.send("POST", "/caches", validCache);
    expect(made.status).toBe(201);
    expect(made.body.data.attributes.connection).toHaveProperty("password");
    const invited = await developer.send("POST", "/invitations", { role: "viewer" });
    expect([invited.status, invited.body.message]).toEqual([
      403,
      "This action is unauthorized. It needs the ability `members:write`.",
    ]);
  });
});

describe("an admin", () => {
  test("neither makes, changes nor removes an owner, nor renames the organization", async () => {
    expect((await admin.send("POST", "/invitations", { role: "owner" })).status).toBe(403);
    expect(
      (await admin.send("PATCH", `/members/${await idOf("admin@example.com")}`, { role: "owner" })).status,
    ).toBe(403);
    expect(
      (await admin.send("PATCH", `/members/${await idOf("ada@example.com")}`, { role: "viewer" })).status,
    ).toBe(403);
    expect((await admin.send("DELETE", `/members/${await idOf("ada@example.com")}`)).status).toBe(403);
    const { meta } = (await admin.send("GET", "/users/me")).body.data;
    const renamed = await admin.send("PATCH", `/organizations/${meta.organization_id}`, {
      name: "taken over",
    });
    expect(renamed.status).toBe(403);
  });

  test("has no way around it by a token", async () => {
    const made = await admin.send("POST", "/tokens", { name: "way around", abilities: ["*"] });
    const token = String(made.body.data.attributes.token);
    const path = `/api/members/${await idOf("admin@example.com")}`;
    const answer = await api.request(path, { token, method: "PATCH", json: { role: "owner" } });
    expect(answer.status).toBe(403);
  });
});

describe("the last owner", () => {
  test("can neither go nor step down", async () => {
    const id = await idOf("ada@example.com");
    expect((await owner.send("DELETE", `/members/${id}`)).status).toBe(409);
    expect((await owner.send("PATCH", `/members/${id}`, { role: "admin" })).status).toBe(409);
  });

  test("is one of two who step down at once", async () => {
    const id = await idOf("admin@example.com");
    expect((await owner.send("PATCH", `/members/${id}`, { role: "owner" })).status).toBe(200);
    const answers = await Promise.all([
      owner.send("PATCH", `/members/${await idOf("ada@example.com")}`, { role: "admin" }),
      admin.send("PATCH", `/members/${id}`, { role: "admin" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    await api.db`update members set role = 'owner' where id = ${await idOf("ada@example.com")}`;
    await api.db`update members set role = 'admin' where id = ${id}`;
  });
});

test("a member who is removed loses session, tokens and streams at once", async () => {
  const leaver = await memberOf(api, owner, "developer", "leaver@example.com");
  const made = await leaver.send("POST", "/tokens", { name: "kept", abilities: ["caches:read"] });
  const token = String(made.body.data.attributes.token);
  expect((await api.request("/api/caches", { token })).status).toBe(200);
  const follow = { headers: { Cookie: leaver.cookie ?? "" } };
  const stream = await fetch(`${api.origin}/api/events?follow`, follow);
  expect(stream.status).toBe(200);
  const reading = stream.text();
  expect((await owner.send("DELETE", `/members/${await idOf("leaver@example.com")}`)).status).toBe(204);
  expect(await reading).toContain("retry:");
  expect((await api.request("/api/caches", { token })).status).toBe(401);
  expect((await leaver.send("GET", "/caches")).status).toBe(403);
  expect((await leaver.send("GET", "/meta/organization")).status).toBe(403);
  expect((await leaver.send("GET", "/users/me")).body.data.meta).toMatchObject({
    organizations: [],
    abilities: [],
  });
});

test("a session that is revoked ends its stream of events", async () => {
  const browser = new Browser(api);
  const { id } = (await browser.signIn("viewer@example.com")).body.data;
  const stream = await fetch(`${api.origin}/api/events?follow`, {
    headers: { Cookie: browser.cookie ?? "" },
  });
  const reading = stream.text();
  expect((await viewer.send("DELETE", `/sessions/${id}`)).status).toBe(204);
  expect(await reading).toContain("retry:");
});

test("a member whose role is lowered loses the tokens that are more able", async () => {
  const member = await memberOf(api, owner, "admin", "lowered@example.com");
  const [strong, weak] = await Promise.all(
    [["*"], ["caches:read"]].map(async (abilities) => {
      const made = await member.send("POST", "/tokens", { name: "t", abilities });
      return String(made.body.data.attributes.token);
    }),
  );
  await owner.send("PATCH", `/members/${await idOf("lowered@example.com")}`, { role: "developer" });
  expect((await api.request("/api/caches", { token: strong ?? null })).status).toBe(401);
  expect((await api.request("/api/caches", { token: weak ?? null })).status).toBe(200);
});

const invite = async (body: object) => {
  const { body: made } = await owner.send("POST", "/invitations", body);
  return { id: made.data.id, secret: secretIn(String(made.data.attributes.link)) };
};

describe("an invitation", () => {
  test("works once, for exactly one of two at once", async () => {
    const { secret } = await invite({ role: "viewer" });
    const answers = await Promise.all(
      ["one@example.com", "two@example.com"].map((email) =>
        new Browser(api).send("POST", "/invitations/accept", {
          secret,
          email,
          name: "N",
          password: PASSWORD,
        }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    expect(
      await api.db`select count(*)::int as n from users where email like '%o%e@example.com' or email = 'two@example.com'`,
    ).toEqual([{ n: 1 }]);
  });

  test("is shown without its link afterwards, and its secret is not stored", async () => {
    const { id, secret } = await invite({ role: "viewer" });
    expect(JSON.stringify((await owner.send("GET", "/invitations")).body)).not.toContain(secret);
    expect(JSON.stringify(await api.db`select * from invitations`)).not.toContain(secret);
    expect((await owner.send("DELETE", `/invitations/${id}`)).status).toBe(204);
    const body = { secret, email: "late@example.com", name: "N", password: PASSWORD };
    expect((await new Browser(api).send("POST", "/invitations/accept", body)).status).toBe(422);
  });

  test("for an address is for that address alone, and expires", async () => {
    const { id, secret } = await invite({ role: "viewer", email: "Meant@example.com" });
    const accept = (email: string) =>
      new Browser(api).send("POST", "/invitations/accept", { secret, email, name: "N", password: PASSWORD });
    expect((await accept("other@example.com")).body.errors).toHaveProperty("email");
    await api.db`update invitations set expires_at = now() where id = ${id}`;
    expect((await accept("meant@example.com")).body.errors).toHaveProperty("secret");
    await api.db`update invitations set expires_at = now() + interval '1 day' where id = ${id}`;
    expect((await accept("meant@example.com")).status).toBe(201);
  });

  test("with an account of somebody needs its password", async () => {
    const { secret } = await invite({ role: "admin" });
    const body = { secret, email: "ada@example.com", name: "N", password: "not the password" };
    expect((await new Browser(api).send("POST", "/invitations/accept", body)).status).toBe(401);
  });
});

describe("an organization", () => {
  test("is made, joined by a signed-in user, switched to and renamed", async () => {
    const made = await owner.send("POST", "/organizations", { name: "Side project" });
    expect([made.status, made.body.data.attributes]).toEqual([201, { name: "Side project", role: "owner" }]);
    const id = made.body.data.id;
    expect((await owner.send("PATCH", "/sessions/current", { organization_id: id })).status).toBe(200);
    expect((await owner.send("GET", "/caches")).body).toMatchObject({ meta: { total: 0 } });
    const invited = await owner.send("POST", "/invitations", { role: "admin" });
    const secret = secretIn(String(invited.body.data.attributes.link));
    const joined = await viewer.send("POST", "/invitations/accept", { secret });
    expect(joined.status).toBe(201);
    expect((await viewer.send("GET", "/users/me")).body.data.meta).toMatchObject({
      organization_id: id,
      role: "admin",
    });
    expect((await viewer.send("PATCH", `/organizations/${id}`, { name: "Mine" })).status).toBe(403);
    expect(
      (await owner.send("PATCH", `/organizations/${id}`, { name: "<b>Ours</b>" })).body.data.attributes.name,
    ).toBe("<b>Ours</b>");
    expect((await developer.send("PATCH", `/organizations/${id}`, { name: "x1" })).status).toBe(404);
    expect((await developer.send("PATCH", "/sessions/current", { organization_id: id })).status).toBe(422);
    const names = (await owner.send("GET", "/organizations")).body as unknown as {
      data: { attributes: { name: string } }[];
    };
    expect(names.data.map(({ attributes }) => attributes.name)).toEqual(["<b>Ours</b>", "default"]);
    const [home] = await api.db<{ id: string }[]>`select id from organizations where is_default`;
    for (const browser of [owner, viewer]) {
      expect((await browser.send("PATCH", "/sessions/current", { organization_id: home?.id })).status).toBe(
        200,
      );
    }
  });

  test("has 500 members and invitations at most, of which expired invitations are none", async () => {
    const { id } = (await owner.send("POST", "/organizations", { name: "Full house" })).body.data;
    expect((await owner.send("PATCH", "/sessions/current", { organization_id: id })).status).toBe(200);
    await api.db`
      insert into invitations (id, organization_id, secret_hash, role, expires_at)
      select 'invitation-' || n, ${id}, 'hash-' || n, 'viewer', now() + interval '1 day' from generate_series(1, 499) n`;
    const status = async () => (await owner.send("POST", "/invitations", { role: "viewer" })).status;
    expect(await status()).toBe(409);
    await api.db`update invitations set expires_at = now() where organization_id = ${id}`;
    expect(await status()).toBe(201);
    const [home] = await api.db<{ id: string }[]>`select id from organizations where is_default`;
    await owner.send("PATCH", "/sessions/current", { organization_id: home?.id });
  });

  test("has a name of its own, and that of the operator stays the operator's under another name", async () => {
    expect((await owner.send("POST", "/organizations", { name: "default" })).status).toBe(422);
    const [home] = await api.db<{ id: string }[]>`select id from organizations where is_default`;
    const id = home?.id ?? "";
    expect((await owner.send("PATCH", `/organizations/${id}`, { name: "<b>Ours</b>" })).status).toBe(422);
    expect((await owner.send("PATCH", `/organizations/${id}`, { name: "acme" })).status).toBe(200);
    expect(await isDefaultOrganization(api.db, id)).toBe(true);
    expect((await owner.send("POST", "/organizations", { name: "default" })).status).toBe(422);
    const token = await api.newToken(["*"]);
    const named = (await (await api.request("/api/meta/organization", { token })).json()) as {
      data: { id: string };
    };
    expect(named.data.id).toBe(id);
    expect((await owner.send("PATCH", `/organizations/${id}`, { name: "default" })).status).toBe(200);
  });
});
