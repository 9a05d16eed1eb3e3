// Rights that are taken away while a request is under way: what it asks for is not done.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { endSessions } from "../../src/api/auth/sessions.ts";
import { deploy } from "../../src/resources/applications/deployments/create.ts";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { removeMember } from "../../src/resources/members/members.ts";
import { listMembers, lockMembers } from "../../src/resources/members/store.ts";
import { endAction } from "../../src/resources/shared/actions/store.ts";
import { tarOf } from "../../src/sources/test-support.ts";
import type { Transaction } from "../../src/store/database.ts";
import { notify } from "../../src/store/notifications.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { deploymentsOf, newApplication, SOURCE } from "../support/api/applications-api.ts";
import { ownerOf, secretIn, type Browser } from "../support/api/browser.ts";
import { inTransaction, untilSomebodyWaits } from "../support/api/locks.ts";
import { newMember, newToken, type TestMember } from "../support/api/members.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
let owner: Browser;
let organizationId: string;
beforeAll(async () => {
  api = await startApi();
  owner = await ownerOf(api);
  organizationId = (await owner.send("GET", "/meta/organization")).body.data.id;
});
afterAll(() => api.stop());

/** What proves the rights of a request, and the row that says when they were last used. */
interface Caller {
  header: string;
  table: "tokens" | "sessions";
  id: string;
}

async function sessionOf({ userId, browser }: TestMember): Promise<Caller> {
  const [row] = await api.db<{ id: string }[]>`select id from sessions where user_id = ${userId}`;
  return {
    header: `Cookie: ${browser.cookie}\r\nOrigin: ${api.origin}`,
    table: "sessions",
    id: row?.id ?? "",
  };
}

const tokenOf = ({ id, token }: { id: string; token: string }): Caller => ({
  header: `Authorization: Bearer ${token}`,
  table: "tokens",
  id,
});

/** Sends a request without its body, and resolves when it is authenticated. @returns a function that sends the body. */
async function held(
  request: string,
  { header, table, id }: Caller,
  body: string | Uint8Array,
  type = "application/json",
): Promise<() => Promise<string>> {
  const rows = api.db.unsafe(table);
  await api.db`update ${rows} set last_used_at = now() - interval '1 hour' where id = ${id}`;
  const { host, hostname, port } = new URL(api.origin);
  const socket: Socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const length = Buffer.byteLength(body);
  socket.write(
    `${request} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${header}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`,
  );
  await until("the request is authenticated", async () => {
    const used = await api.db`
      select from ${rows} where id = ${id} and last_used_at > now() - interval '1 minute'`;
    return used.length > 0;
  });
  return async () => {
    const answer = new Response(socket as unknown as ReadableStream).text();
    socket.write(body);
    return (await answer).slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
  };
}

async function newCache(): Promise<string> {
  const json = { ...validCache, uses_hibernation: true };
  const created = await api.request("/api/caches", { json });
  return ((await created.json()) as { data: { id: string } }).data.id;
}

/** Holds a request of a new token, revokes that, and ends what the request waits for. @returns the status. */
async function revokedWhileHeld(
  path: string,
  init: RequestInit,
  end: (tx: Transaction) => Promise<void>,
): Promise<number> {
  const token = await newToken(owner);
  const answer = api.request(path, { ...init, token: token.token });
  await until("the request is held", async () => {
    const metrics = await (await api.request("/metrics")).text();
    return metrics.includes("pilvi_held_requests 1\n");
  });
  expect((await owner.send("DELETE", `/tokens/${token.id}`)).status).toBe(204);
  await api.db.begin(end);
  return (await answer).status;
}

describe("a request that is held until the revocation is refused", () => {
  test("when it waits for a status", async () => {
    const id = await newCache();
    const status = await revokedWhileHeld(`/api/caches/${id}?wait=updating`, {}, async (tx) => {
      await tx`update caches set status = 'updating' where id = ${id}`;
      await notify(tx, "status", id);
    });
    expect(status).toBe(401);
  });

  test("when it waits for a deletion", async () => {
    const id = await newCache();
    const status = await revokedWhileHeld(`/api/caches/${id}?wait=deleted`, {}, (tx) => eraseCache(tx, id));
    expect(status).toBe(401);
  });

  test("when it waits for an action", async () => {
    const id = await newCache();
    await api.db`update caches set status = 'available' where id = ${id}`;
    const status = await revokedWhileHeld(`/api/caches/${id}/suspend`, { method: "POST" }, async (tx) => {
      const [action] = await tx<{ id: string }[]>`select id from actions where resource_id = ${id}`;
      await endAction(tx, action?.id ?? "", { state: "done" });
    });
    expect(status).toBe(401);
  });
});

describe("a request whose body comes after the revocation", () => {
  const newest = JSON.stringify({ name: "kept", abilities: ["caches:read"] });

  test("of a removed member makes no token", async () => {
    const member = await newMember(api, owner, "developer");
    const send = await held("POST /api/tokens", await sessionOf(member), newest);
    expect((await owner.send("DELETE", `/members/${member.id}`)).status).toBe(204);
    expect(await send()).toBe("401");
    expect(await api.db`select from tokens where user_id = ${member.userId}`).toHaveLength(0);
  });

  test("of a member with another role now makes no resource", async () => {
    const member = await newMember(api, owner, "developer");
    const body = JSON.stringify({ name: "shop", region: "eu-central-1" });
    const send = await held("POST /api/applications", await sessionOf(member), body);
    expect((await owner.send("PATCH", `/members/${member.id}`, { role: "viewer" })).status).toBe(200);
    expect(await send()).toBe("401");
  });

  test("of a revoked token makes no other token", async () => {
    const maker = await newToken(owner);
    const send = await held("POST /api/tokens", tokenOf(maker), newest);
    expect((await owner.send("DELETE", `/tokens/${maker.id}`)).status).toBe(204);
    expect(await send()).toBe("401");
  });

  test("of a session that has ended does not change the account", async () => {
    const member = await newMember(api, owner, "viewer");
    const caller = await sessionOf(member);
    const send = await held("PATCH /api/users/me", caller, JSON.stringify({ email: "taken@example.com" }));
    await api.db.begin((tx) => endSessions(tx, member.userId));
    expect(await send()).toBe("401");
  });

  test("of a session that has ended signs nobody in", async () => {
    const member = await newMember(api, owner, "viewer");
    const invited = await owner.send("POST", "/invitations", { role: "admin" });
    const secret = secretIn(String(invited.body.data.attributes.link));
    const caller = await sessionOf(member);
    const send = await held("POST /api/invitations/accept", caller, JSON.stringify({ secret }));
    await api.db.begin((tx) => endSessions(tx, member.userId));
    expect(await send()).toBe("422");
    expect(await api.db`select from sessions where user_id = ${member.userId}`).toHaveLength(0);
  });

  test("of a user without an organization is answered", async () => {
    const member = await newMember(api, owner, "viewer");
    await owner.send("DELETE", `/members/${member.id}`);
    const caller = await sessionOf(member);
    const send = await held("PATCH /api/users/me", caller, JSON.stringify({ name: "Bob" }));
    expect(await send()).toBe("200");
  });

  test("is no upload", async () => {
    const { id, environmentId } = await newApplication(api);
    const token = await newToken(owner);
    const path = `POST /api/environments/${environmentId}/uploads`;
    const send = await held(path, tokenOf(token), tarOf(SOURCE), "application/x-tar");
    await owner.send("DELETE", `/tokens/${token.id}`);
    expect(await send()).toBe("401");
    const repository = await api.context.repositories.of(id);
    expect(await repository.uploads()).toEqual([]);
    expect(await deploymentsOf(api, environmentId)).toEqual([]);
  });
});

test("a deployment that was begun by a token which is revoked by now is refused", async () => {
  const { environmentId } = await newApplication(api);
  const { id: tokenId } = await newToken(owner);
  await owner.send("DELETE", `/tokens/${tokenId}`);
  const principal = {
    kind: "token",
    tokenId,
    organizationId,
    familyId: organizationId,
    abilities: ["*"],
  } as const;
  const request = { principal, requestId: "r", params: { id: environmentId }, idempotency: undefined };
  await expect(deploy(api.context, request, { commit: null, releaseOf: null })).rejects.toThrow(
    "Unauthenticated.",
  );
  expect(await deploymentsOf(api, environmentId)).toEqual([]);
});

/** Sends a request that waits for the organization or the user, and takes rights away before it goes on. */
async function during(
  lock: (tx: Transaction) => Promise<unknown>,
  send: () => Promise<{ status: number }>,
  revoke: (tx: Transaction) => Promise<unknown>,
): Promise<number | undefined> {
  let answer: Promise<{ status: number }> | undefined;
  await inTransaction(api.db, async (tx) => {
    await lock(tx);
    answer = send();
    await Promise.race([answer, untilSomebodyWaits(api.db)]);
    await revoke(tx);
  });
  return (await answer)?.status;
}

const lock = (tx: Transaction) => lockMembers(tx, organizationId);

describe("a request that waits for a revocation", () => {
  let member: TestMember;
  beforeEach(async () => {
    member = await newMember(api, owner, "admin");
  });

  async function remove(tx: Transaction): Promise<void> {
    const [row] = await listMembers(tx, organizationId, member.id);
    if (row !== undefined) await removeMember(tx, organizationId, row);
  }

  test.each([
    ["a token", "POST", () => "/tokens", { name: "t", abilities: ["*"] }],
    ["an invitation", "POST", () => "/invitations", { role: "admin" }],
    ["an organization", "POST", () => "/organizations", { name: "own" }],
    ["a role", "PATCH", () => `/members/${member.id}`, { role: "viewer" }],
    ["a removal", "DELETE", () => `/members/${member.id}`, undefined],
  ])("of a removed member is refused: %s", async (_, method, path, body) => {
    const status = await during(lock, () => member.browser.send(method, path(), body), remove);
    expect(status).toBe(401);
  });

  test("of a revoked token makes no other token", async () => {
    const maker = await newToken(owner);
    const json = { name: "t", abilities: ["*"] };
    const revoke = async (tx: Transaction) =>
      await tx`update tokens set revoked_at = now() where id = ${maker.id}`;
    const status = await during(
      revoke,
      () => api.request("/api/tokens", { token: maker.token, json }),
      () => Promise.resolve(),
    );
    expect(status).toBe(401);
  });

  test("of a session that has ended does not change its user", async () => {
    const { userId, browser } = member;
    const status = await during(
      async (tx) => await tx`select from users where id = ${userId} for no key update`,
      () => browser.send("PATCH", "/users/me", { email: "other@example.com" }),
      (tx) => endSessions(tx, userId),
    );
    expect(status).toBe(401);
    expect(await api.db`select from users where email = 'other@example.com'`).toHaveLength(0);
  });

  test("of a session that has ended begins no other one", async () => {
    const made = (await owner.send("POST", "/organizations", { name: `of ${member.email}` })).body.data;
    await owner.send("PATCH", "/sessions/current", { organization_id: made.id });
    const invited = await owner.send("POST", "/invitations", { role: "viewer" });
    await owner.send("PATCH", "/sessions/current", { organization_id: organizationId });
    const secret = secretIn(String(invited.body.data.attributes.link));
    const status = await during(
      (tx) => lockMembers(tx, made.id),
      () => member.browser.send("POST", "/invitations/accept", { secret }),
      (tx) => endSessions(tx, member.userId),
    );
    expect(status).toBe(401);
    expect(await api.db`select from sessions where user_id = ${member.userId}`).toHaveLength(0);
  });
});
