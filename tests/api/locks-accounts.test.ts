// A user is locked before an organization, and neither holds up what refers to it alone.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { beginSession, endSessions } from "../../src/api/auth/sessions.ts";
import { createRecoveryLink, createSetUpLink, holdPassword } from "../../src/resources/accounts/index.ts";
import { lockSetUp } from "../../src/resources/accounts/links.ts";
import type { Transaction } from "../../src/store/database.ts";
import { startApi, type TestApi } from "../support/api/api.ts";
import { Browser, PASSWORD, type Read } from "../support/api/browser.ts";
import { inTransaction, untilSomebodyWaits } from "../support/api/locks.ts";

const EMAIL = "ada@example.com";

let api: TestApi;
let browser: Browser;

beforeAll(async () => {
  api = await startApi();
  browser = new Browser(api);
});

afterAll(() => api.stop());

test("the link for the first account is redeemed while another is made", async () => {
  const secret = await createSetUpLink(api.db);
  let answer: Promise<Read> | undefined;
  await inTransaction(api.db, async (tx) => {
    await lockSetUp(tx);
    const body = { secret, email: EMAIL, name: "Ada", password: PASSWORD };
    answer = browser.send("POST", "/sign-in-links/redeem", body);
    await untilSomebodyWaits(api.db);
    await tx`update sign_in_links set expires_at = expires_at where user_id is null`;
  });
  expect((await answer)?.status).toBe(201);
});

async function ada(): Promise<{ userId: string; passwordHash: string }> {
  const [row] = await api.db<{ userId: string; passwordHash: string }[]>`
    select id as "userId", password_hash as "passwordHash" from users where email = ${EMAIL}`;
  if (row === undefined) throw new Error("no user");
  return row;
}

/** A sign-in with a password, and something that happens in the middle of it. */
async function signInDuring(begin: () => Promise<Read>, organizationId?: string): Promise<number> {
  const login = await ada();
  const client = { address: "127.0.0.1", userAgent: "test", origin: api.origin };
  let answer: Promise<Read> | undefined;
  await inTransaction(api.db, async (tx) => {
    await holdPassword(tx, login);
    answer = begin();
    await Promise.race([answer, untilSomebodyWaits(api.db)]);
    await beginSession(tx, {
      userId: login.userId,
      client: client as Parameters<typeof beginSession>[1]["client"],
      ...(organizationId !== undefined && { organizationId }),
    });
  });
  return (await answer)?.status ?? 0;
}

test("a user makes a token and signs in elsewhere", async () => {
  const body = { name: "deploys", abilities: ["caches:read"] };
  expect(await signInDuring(() => browser.send("POST", "/tokens", body))).toBe(201);
});

test("a user invites a member and signs in elsewhere", async () => {
  expect(await signInDuring(() => browser.send("POST", "/invitations", { role: "viewer" }))).toBe(201);
});

test("a user deletes an organization and signs in elsewhere", async () => {
  const { id } = (await browser.send("POST", "/organizations", { name: "shop" })).body.data;
  expect(await signInDuring(() => browser.send("DELETE", `/organizations/${id}`), id)).toBe(204);
});

test("a member with a password accepts an invitation to an organization that is being deleted", async () => {
  const { userId } = await ada();
  const { id } = (await browser.send("POST", "/organizations", { name: "shop" })).body.data;
  await browser.send("PATCH", "/sessions/current", { organization_id: id });
  const invitation = (await browser.send("POST", "/invitations", { role: "viewer" })).body.data;
  const secret = String(invitation.attributes.link).split("#")[1];
  let answer: Promise<Read> | undefined;
  await inTransaction(api.db, async (tx) => {
    // The beginning of the deletion, which then finds a reason against it.
    await tx`select from users where id = ${userId} for no key update`;
    answer = new Browser(api).send("POST", "/invitations/accept", {
      secret,
      email: EMAIL,
      password: PASSWORD,
    });
    await untilSomebodyWaits(api.db);
    await tx`select from organizations where id = ${id} for update`;
  });
  expect((await answer)?.status).toBe(409);
});

/** Locks two rows one after the other, and has something begin between that needs both. */
async function lockBoth(
  lock: (tx: Transaction, row: 0 | 1) => Promise<unknown>,
  begin: () => Promise<unknown>,
) {
  let done: Promise<unknown> | undefined;
  await inTransaction(api.db, async (tx) => {
    await lock(tx, 0);
    done = begin();
    await Promise.race([done, untilSomebodyWaits(api.db)]);
    await lock(tx, 1);
  });
  await done;
}

test("two links are made while former ones have expired", async () => {
  const { userId } = await ada();
  await api.db`insert into users (id, email, name, password_hash) values ('user-2', 'b@example.com', 'B', '')`;
  for (const user of [userId, "user-2"]) await createRecoveryLink(api.db, user);
  await api.db`update sign_in_links set expires_at = now()`;
  await lockBoth(
    async (tx, row) =>
      await tx`delete from sign_in_links where user_id = ${[userId, "user-2"][row]} and expires_at <= now()`,
    async () => await createRecoveryLink(api.db, "user-2"),
  );
  expect(await api.db`select from sign_in_links where user_id = 'user-2'`).toHaveLength(1);
});

test("the sessions of a user end in the order of their ids", async () => {
  const { userId } = await ada();
  await api.db`delete from sessions`;
  for (const id of ["session-2", "session-1"])
    await api.db`
      insert into sessions (id, secret_hash, user_id, address, user_agent, expires_at)
      values (${id}, ${id}, ${userId}, '', '', now() + interval '1 day')`;
  await api.db`analyze sessions`;
  await lockBoth(
    async (tx, row) =>
      await tx`select from sessions where id = ${["session-1", "session-2"][row]} for update`,
    async () => await api.db.begin((tx) => endSessions(tx, userId)),
  );
  expect(await api.db`select from sessions`).toHaveLength(0);
});
