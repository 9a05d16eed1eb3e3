// Organizations that stem from the same one share its quotas.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { updateStorage } from "../../src/resources/shared/allocations.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { ownerOf, secretIn, type Browser } from "../support/api/browser.ts";
import { newMember } from "../support/api/members.ts";

let api: TestApi;
let operator: Browser;
beforeEach(async () => {
  api = await startApi({ quotas: { resources: 2 } });
  operator = await ownerOf(api);
});
afterEach(() => api.stop());

/** Has a user make an organization, and the session of the user work on it. */
async function made(by: Browser, name: string): Promise<string> {
  const { status, body } = await by.send("POST", "/organizations", { name });
  expect(status).toBe(201);
  await work(by, body.data.id);
  return body.data.id;
}

const work = (browser: Browser, id: string) =>
  browser.send("PATCH", "/sessions/current", { organization_id: id });

/** Makes a user a member of the organization on which the session of another works, and has the user work on it. */
async function join(browser: Browser, inviter: Browser, role: string): Promise<void> {
  const { body } = await inviter.send("POST", "/invitations", { role });
  const secret = secretIn(String(body.data.attributes.link));
  expect((await browser.send("POST", "/invitations/accept", { secret })).status).toBe(201);
}

/** A user of nothing but a new organization of the operator's making. */
async function newTenant(name: string): Promise<{ id: string; user: Browser }> {
  const { browser: user, id: member } = await newMember(api, operator, "viewer");
  const [home] = await api.db<{ id: string }[]>`select id from organizations where is_default`;
  const id = await made(operator, name);
  await join(user, operator, "owner");
  await work(operator, home?.id ?? "");
  await operator.send("DELETE", `/members/${member}`);
  await work(user, id);
  return { id, user };
}

const order = (browser: Browser) => browser.send("POST", "/caches", validCache);

async function metaOf(browser: Browser) {
  const { meta } = (await browser.send("GET", "/meta/organization")).body.data;
  return meta as { quotas: Record<string, { used: number }>; shares_quotas: boolean; notices: string[] };
}

/** The organization whose sums those of an organization are. */
async function familyOf(id: string): Promise<string | undefined> {
  const [row] = await api.db<{ familyId: string }[]>`
    select family_id as "familyId" from organizations where id = ${id}`;
  return row?.familyId;
}

describe("an organization of a tenant", () => {
  test("shares the quotas of the first one, and both show the use of both", async () => {
    const { id, user } = await newTenant("tenant");
    expect((await order(user)).status).toBe(201);
    expect(await metaOf(user)).toMatchObject({ shares_quotas: false });
    await made(user, "second");
    expect((await order(user)).status).toBe(201);
    const refused = await order(user);
    expect([refused.status, refused.body.errors?.type]).toEqual([
      422,
      [
        "The organization and those that share its quotas may have 2 resources and have 2. Delete something, or have the operator raise PILVI_QUOTA_RESOURCES.",
      ],
    ]);
    for (const organization of [id, await made(user, "third")]) {
      await work(user, organization);
      expect((await order(user)).status).toBe(422);
      expect(await metaOf(user)).toMatchObject({ quotas: { resources: { used: 2 } }, shares_quotas: true });
    }
  });

  test("gets what is left or leaves it to another that orders at the same time", async () => {
    const { id, user } = await newTenant("tenant");
    const tokenOf = async () => {
      const { body } = await user.send("POST", "/tokens", { name: "t", abilities: ["*"] });
      return String(body.data.attributes.token);
    };
    await order(user);
    const tokens = [await tokenOf(), (await made(user, "second"), await tokenOf())];
    const answers = await Promise.all(
      tokens.map((token) => api.request("/api/caches", { token, json: validCache })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    const [sums] = await api.db`select caches::int from quota_usage where owner = ${id}`;
    expect(sums).toEqual({ caches: 2 });
  });

  test("stems from it by an account that a member of the tenant has invited", async () => {
    const { id, user } = await newTenant("tenant");
    await made(user, "second");
    const { user: invited } = await newTenant("elsewhere");
    const elsewhere = await made(invited, "own");
    expect(await familyOf(elsewhere)).not.toBe(id);
    const other = await newMember(api, operator, "viewer");
    await join(other.browser, user, "admin");
    await operator.send("DELETE", `/members/${other.id}`);
    expect(await familyOf(await made(other.browser, "third"))).toBe(id);
  });

  test("takes no quotas of an older one in which its maker is a developer", async () => {
    const older = await newTenant("older");
    const { id, user } = await newTenant("tenant");
    await join(user, older.user, "developer");
    await work(user, id);
    expect(await familyOf(await made(user, "second"))).toBe(id);
  });

  test("keeps the sums when the first one is deleted, and they go with the last", async () => {
    const { id, user } = await newTenant("tenant");
    const second = await made(user, "second");
    const { data } = (await order(user)).body;
    expect((await user.send("DELETE", `/organizations/${id}`)).status).toBe(204);
    expect((await order(user)).status).toBe(201);
    expect((await order(user)).status).toBe(422);
    expect(await metaOf(user)).toMatchObject({ quotas: { resources: { used: 2 } }, shares_quotas: false });
    const rows = await api.db<{ id: string }[]>`select id from caches where organization_id = ${second}`;
    for (const cache of rows) await api.db.begin((tx) => eraseCache(tx, cache.id));
    expect(rows.map((row) => row.id)).toContain(data.id);
    const { user: other } = await newTenant("elsewhere");
    await work(user, second);
    await join(user, other, "owner");
    expect((await user.send("DELETE", `/organizations/${second}`)).status).toBe(204);
    expect(await api.db`select from quota_usage where owner = ${id}`).toHaveLength(0);
  });

  test("gets no more storage when all together have too much", async () => {
    api.context.quotas.storageBytes = 1_000;
    const { user } = await newTenant("tenant");
    const { data } = (await order(user)).body;
    await api.db.begin((tx) => updateStorage(tx, data.id, 5_000));
    await made(user, "second");
    const [notice] = (await metaOf(user)).notices;
    expect(notice).toStartWith("The organization and those that share its quotas may have");
    expect((await order(user)).status).toBe(422);
  });
});

describe("an organization of an owner or admin of the operator's organization", () => {
  test("has quotas of its own, and so has that of a token by the command line", async () => {
    await order(operator);
    await order(operator);
    expect((await order(operator)).status).toBe(422);
    const id = await made(operator, "own");
    expect(await familyOf(id)).toBe(id);
    expect((await order(operator)).status).toBe(201);
    expect(await metaOf(operator)).toMatchObject({
      quotas: { resources: { used: 1 } },
      shares_quotas: false,
    });
    const token = await api.newToken(["*"], "by the command");
    expect((await api.request("/api/caches", { token, json: validCache })).status).toBe(201);
  });
});
