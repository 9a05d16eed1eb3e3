// Organizations that are deleted, and members who leave.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { pruneEvents } from "../../src/resources/shared/events/retention.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { type Browser, memberOf, ownerOf, secretIn } from "../support/api/browser.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
let owner: Browser;
let home: string;
beforeAll(async () => {
  api = await startApi();
  owner = await ownerOf(api);
  home = String((await owner.send("GET", "/users/me")).body.data.meta.organization_id);
});
afterAll(() => api.stop());

/** Makes an organization of the owner's, and has the owner's session work on it. */
async function makeOrganization(name: string): Promise<string> {
  await work(owner, home);
  const made = await owner.send("POST", "/organizations", { name });
  const { id } = made.body.data;
  await work(owner, id);
  return id;
}

async function work(browser: Browser, id: string): Promise<void> {
  expect((await browser.send("PATCH", "/sessions/current", { organization_id: id })).status).toBe(200);
}

/** Makes a member of the organization on which the owner's session works. */
async function join(browser: Browser, role: string): Promise<void> {
  const invited = await owner.send("POST", "/invitations", { role });
  const secret = secretIn(String(invited.body.data.attributes.link));
  expect((await browser.send("POST", "/invitations/accept", { secret })).status).toBe(201);
}

async function newToken(abilities: string[]): Promise<string> {
  const made = await owner.send("POST", "/tokens", { name: "program", abilities });
  return String(made.body.data.attributes.token);
}

const remove = async (browser: Browser, id: string) => {
  const { status, body } = await browser.send("DELETE", `/organizations/${id}`);
  return [status, body.message];
};

const leave = async (browser: Browser, id: string) => {
  const { status, body } = await browser.send("DELETE", `/organizations/${id}/membership`);
  return [status, body.message];
};

describe("an organization", () => {
  test("is deleted with its members, tokens and streams, and its name is free again", async () => {
    const id = await makeOrganization("short-lived");
    const member = await memberOf(api, owner, "developer", "member@example.com");
    const token = await newToken(["caches:read"]);
    await owner.send("POST", "/invitations", { role: "viewer" });
    const stream = await fetch(`${api.origin}/api/events?follow`, {
      headers: { Cookie: member.cookie ?? "" },
    });
    const reading = stream.text();
    expect(await remove(owner, id)).toEqual([204, undefined]);
    expect(await reading).toContain("retry:");
    expect((await api.request("/api/caches", { token })).status).toBe(401);
    expect((await member.send("GET", "/caches")).status).toBe(403);
    const { meta } = (await member.send("GET", "/users/me")).body.data;
    expect(meta).toMatchObject({ organization_id: null, organizations: [] });
    expect(await remove(owner, id)).toEqual([404, "There is no such organization."]);
    await remove(owner, await makeOrganization("short-lived"));
  });

  test("stays while it has a resource, also while that is being deleted", async () => {
    const id = await makeOrganization("busy");
    const { data } = (await owner.send("POST", "/caches", validCache)).body;
    const refusal = [409, "The organization still has one resource. Delete what it has first."];
    expect(await remove(owner, id)).toEqual(refusal);
    expect((await owner.send("DELETE", `/caches/${data.id}`)).status).toBe(204);
    expect(await remove(owner, id)).toEqual(refusal);
    await api.db.begin((tx) => eraseCache(tx, data.id));
    expect(await remove(owner, id)).toEqual([204, undefined]);
  });

  test("is deleted with the keys of requests that made its former resources", async () => {
    const id = await makeOrganization("repeatable");
    const { data } = (await owner.send("POST", "/caches", validCache, { "Idempotency-Key": "once" })).body;
    await owner.send("DELETE", `/caches/${data.id}`);
    await api.db.begin((tx) => eraseCache(tx, data.id));
    const keys = async () =>
      (await api.db`select from idempotency_keys where organization_id = ${id}`).length;
    expect(await keys()).toBe(1);
    expect(await remove(owner, id)).toEqual([204, undefined]);
    expect(await keys()).toBe(0);
  });

  test("stays while it has an application", async () => {
    const id = await makeOrganization("deploying");
    const made = await owner.send("POST", "/applications", { name: "Shop", region: "us-east-1" });
    expect(made.status).toBe(201);
    expect(await remove(owner, id)).toEqual([
      409,
      "The organization still has one resource. Delete what it has first.",
    ]);
  });

  test("is deleted by its owners alone, in a session", async () => {
    const id = await makeOrganization("guarded");
    const admin = await memberOf(api, owner, "admin", "admin@example.com");
    const stranger = await memberOf(api, owner, "viewer", "stranger@example.com");
    const token = await newToken(["*"]);
    expect(await remove(admin, id)).toEqual([
      403,
      "This action is unauthorized. Only an owner of the organization may delete it.",
    ]);
    await leave(stranger, id);
    expect(await remove(stranger, id)).toEqual([404, "There is no such organization."]);
    const answer = await api.request(`/api/organizations/${id}`, { token, method: "DELETE" });
    expect(answer.status).toBe(403);
  });

  test("of the operator stays, and so does the only organization of an owner", async () => {
    await makeOrganization("second");
    expect(await remove(owner, home)).toEqual([409, "The organization of the operator cannot be deleted."]);
    const id = await makeOrganization("only");
    const other = await memberOf(api, owner, "owner", "other-owner@example.com");
    expect(await remove(other, id)).toEqual([409, "It is your only organization. Make another one first."]);
  });

  test("that is deleted while a token orders a resource refuses the token", async () => {
    const id = await makeOrganization("contested");
    const token = await newToken(["caches:write"]);
    let order: Promise<Response> | undefined;
    await api.db.begin(async (tx) => {
      await tx`select from organizations where id = ${id} for update`;
      order = api.request("/api/caches", { token, json: validCache });
      await until("the order waits for the organization", async () => {
        const [row] = await api.db<{ n: number }[]>`
          select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        return (row?.n ?? 0) > 0;
      });
      await tx`update sessions set organization_id = null where organization_id = ${id}`;
      for (const table of ["members", "tokens"]) {
        await tx`delete from ${tx.unsafe(table)} where organization_id = ${id}`;
      }
      await tx`delete from organizations where id = ${id}`;
    });
    expect((await order)?.status).toBe(401);
    expect(await api.db`select from caches where organization_id = ${id}`).toHaveLength(0);
  });

  test("leaves its events until they are too old", async () => {
    const id = await makeOrganization("remembered");
    const { data } = (await owner.send("POST", "/caches", validCache)).body;
    await owner.send("DELETE", `/caches/${data.id}`);
    await api.db.begin((tx) => eraseCache(tx, data.id));
    expect(await remove(owner, id)).toEqual([204, undefined]);
    const count = async () => (await api.db`select from events where organization_id = ${id}`).length;
    await pruneEvents(api.db, 90, 10);
    expect(await count()).toBeGreaterThan(0);
    await api.db`update events set at = now() - interval '91 days' where organization_id = ${id}`;
    await pruneEvents(api.db, 90, 10);
    expect(await count()).toBe(0);
  });
});

describe("a member", () => {
  test("leaves an organization, and loses tokens and streams there and nothing elsewhere", async () => {
    const id = await makeOrganization("left");
    const member = await memberOf(api, owner, "developer", "leaver@example.com");
    const made = await member.send("POST", "/tokens", { name: "mine", abilities: ["caches:read"] });
    const token = String(made.body.data.attributes.token);
    await work(owner, home);
    await join(member, "viewer");
    await work(member, id);
    expect(await leave(member, id)).toEqual([204, undefined]);
    expect((await api.request("/api/caches", { token })).status).toBe(401);
    const { meta } = (await member.send("GET", "/users/me")).body.data;
    expect(meta).toMatchObject({ organization_id: null, organizations: [{ id: home, role: "viewer" }] });
    expect(await leave(member, id)).toEqual([404, "There is no such organization."]);
  });

  test("of any role may leave, but the last owner", async () => {
    const id = await makeOrganization("kept");
    for (const role of ["viewer", "admin", "owner"]) {
      const member = await memberOf(api, owner, role, `${role}@leaving.example`);
      expect(await leave(member, id)).toEqual([204, undefined]);
    }
    expect(await leave(owner, id)).toEqual([
      409,
      "The organization must keep an owner. Make somebody else an owner first.",
    ]);
  });
});
