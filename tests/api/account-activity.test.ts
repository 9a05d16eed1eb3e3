// What happens to accounts, in the activity of each organization of the user; failed sign-ins in bounded entries.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { createRecoveryLink } from "../../src/resources/accounts/index.ts";
import { ENTRIES_AN_HOUR, recordFailedSignIn } from "../../src/resources/accounts/failed-sign-ins.ts";
import type { ActivityResource } from "../../src/resources/activity/schema.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { Browser, memberOf, ownerOf, PASSWORD } from "../support/api/browser.ts";
import { until } from "../support/pilvi/pilvi.ts";

const EMAIL = "ada@example.com";

let api: TestApi;
let owner: Browser;
let userId: string;
beforeAll(async () => {
  api = await startApi();
  owner = await ownerOf(api, EMAIL);
  userId = (await owner.send("GET", "/users/me")).body.data.id;
});
afterAll(() => api.stop());
beforeEach(async () => {
  await api.db`delete from audit`;
});

async function list(query = "", token = api.token): Promise<ActivityResource[]> {
  const response = await api.request(`/api/activity${query}`, { token });
  return ((await response.json()) as { data: ActivityResource[] }).data;
}

const passwords = (current: string) => ({ current_password: current, password: PASSWORD });

/** The actions with their kinds, the oldest first. */
async function actions(): Promise<string[]> {
  return (await list()).map(({ attributes: { action, kind } }) => `${action} ${kind}`).toReversed();
}

/** The details of failed sign-ins once there are as many attempts, the newest first. */
async function failures(attempts: number): Promise<Record<string, unknown>[]> {
  let found: Record<string, unknown>[] = [];
  await until(`${attempts} attempts are recorded`, async () => {
    found = (await list("?filter[action]=fail-sign-in")).map(({ attributes }) => attributes.details);
    return found.reduce((sum, { attempts: own }) => sum + Number(own), 0) === attempts;
  });
  return found;
}

test("a sign-in and a sign-out are recorded with the user, the address and the way", async () => {
  const browser = new Browser(api);
  const { body } = await browser.signIn(EMAIL);
  await browser.send("DELETE", "/sessions/current");
  const [out, begun] = await list();
  const actor = { type: "user", id: userId, name: EMAIL };
  const { id } = body.data;
  expect(begun?.attributes).toMatchObject({
    action: "sign-in",
    kind: "sessions",
    resource_id: id,
    actor,
    details: { method: "password" },
  });
  expect(out?.attributes).toMatchObject({ action: "sign-out", kind: "sessions", resource_id: id, actor });
});

test("a session that another session ends is revoked, and an unknown session is not recorded", async () => {
  const other = await new Browser(api).signIn(EMAIL);
  const { id } = other.body.data;
  expect((await owner.send("DELETE", `/sessions/${id}`)).status).toBe(204);
  expect((await owner.send("DELETE", `/sessions/${id}`)).status).toBe(404);
  expect(await actions()).toEqual(["sign-in sessions", "revoke sessions"]);
});

test("a new password, a new name and a wrong present password are recorded, without the passwords", async () => {
  expect((await owner.send("PUT", "/users/me/password", passwords("not the password"))).status).toBe(422);
  expect(await failures(1)).toMatchObject([{ email: EMAIL, method: "current-password", attempts: 1 }]);
  expect((await owner.send("PUT", "/users/me/password", passwords(PASSWORD))).status).toBe(204);
  expect((await owner.send("PATCH", "/users/me", { name: "Ada L." })).status).toBe(200);
  expect(await actions()).toEqual(["fail-sign-in users", "change-password users", "update users"]);
  const text = JSON.stringify(await api.db`select to_jsonb(a) from audit a`);
  expect([text.includes(PASSWORD), text.includes("not the password")]).toEqual([false, false]);
});

test("a one-time link is recorded when it is used", async () => {
  const secret = await createRecoveryLink(api.db, userId);
  const browser = new Browser(api);
  const redeem = () => browser.send("POST", "/sign-in-links/redeem", { secret, password: PASSWORD });
  expect([(await redeem()).status, (await redeem()).status]).toEqual([201, 422]);
  expect(await actions()).toEqual(["redeem sign-in-links", "sign-in sessions"]);
  const [, used] = await list();
  expect(used?.attributes.details).toEqual({ purpose: "new-password" });
  expect(JSON.stringify(await api.db`select to_jsonb(a) from audit a`)).not.toContain(secret);
  owner = browser;
});

test("an accepted invitation is recorded with the sign-in that it is", async () => {
  await memberOf(api, owner, "viewer", "vera@example.com");
  expect(await actions()).toEqual(["create invitations", "accept invitations", "sign-in sessions"]);
  expect((await list())[0]?.attributes.details).toEqual({ method: "invitation" });
});

test("what happens to an account is in each organization of its user, and in no other", async () => {
  await owner.send("POST", "/organizations", { name: "Side project" });
  await api.newToken(["*"], "strangers");
  await api.db`delete from audit`;
  await new Browser(api).signIn(EMAIL);
  const rows = await api.db<{ name: string; action: string }[]>`
    select o.name, a.action from audit a join organizations o on o.id = a.organization_id order by o.name`;
  expect(rows.map(({ name, action }) => `${name}: ${action}`)).toEqual([
    "Side project: sign-in",
    "default: sign-in",
  ]);
});

test("failed sign-ins of an account are one entry with their number, whose actor is not known", async () => {
  for (let attempt = 0; attempt < 3; attempt++) {
    expect((await new Browser(api).signIn(EMAIL, "wrong password")).status).toBe(401);
  }
  const [details, ...others] = await failures(3);
  expect(others).toEqual([]);
  expect(details).toMatchObject({ email: EMAIL, method: "password", latest_at: expect.any(String) });
  const [entry] = await list();
  expect(entry?.attributes).toMatchObject({ kind: "users", resource_id: userId, actor: null });
});

test("a sign-in with an address without an account is not recorded", async () => {
  expect((await new Browser(api).signIn("nobody@example.com", "wrong password")).status).toBe(401);
  await new Browser(api).signIn(EMAIL);
  expect(await actions()).toEqual(["sign-in sessions"]);
});

/** Records a failure from an address of many. */
async function failFrom(number: number): Promise<void> {
  await recordFailedSignIn(api.db, {
    userId,
    client: { address: `192.0.2.${number % 50}` },
    requestId: "always-the-same",
    method: "password",
  });
}

test("two failures of the same moment from two addresses are counted each in its own entry", async () => {
  await failFrom(1);
  await failFrom(2);
  await api.db`update audit set at = (select min(at) from audit)`;
  await failFrom(1);
  expect((await failures(3)).map(({ attempts }) => attempts).toSorted()).toEqual([1, 2]);
});

test("a flood of failures from many addresses at once leaves a bounded number of entries that counts all", async () => {
  await Promise.all(Array.from({ length: 200 }, (_, number) => failFrom(number)));
  const entries = await failures(200);
  expect(entries).toHaveLength(ENTRIES_AN_HOUR);
  expect(entries[0]).toMatchObject({ other_addresses: true });
  await api.db`update audit set at = at - interval '1 hour'`;
  await failFrom(1);
  expect(await failures(201)).toHaveLength(ENTRIES_AN_HOUR + 1);
});

test("a viewer and a developer do not see who signed in", async () => {
  const developer = await memberOf(api, owner, "developer", "dev@example.com");
  expect((await developer.send("GET", "/activity?filter[kind]=sessions")).status).toBe(403);
});
