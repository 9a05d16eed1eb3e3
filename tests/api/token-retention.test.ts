// Tokens that ended long ago: they are deleted, and those of others do not make the lookups of an organization slower.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createToken, pruneTokens } from "../../src/api/auth/tokens.ts";
import { countTokens, listTokenRows, revokeTokensBeyond } from "../../src/resources/tokens/store.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { ownerOf, type Browser } from "../support/api/browser.ts";
import { newToken } from "../support/api/members.ts";
import { rowsRead } from "../support/api/reads.ts";

const DAYS = 400;

let api: TestApi;
let owner: Browser;
let organizationId: string;
beforeAll(async () => {
  api = await startApi();
  owner = await ownerOf(api);
  organizationId = (await owner.send("GET", "/meta/organization")).body.data.id;
});
afterAll(() => api.stop());

const ends = async (id: string, column: "revoked_at" | "expires_at", days: number) =>
  await api.db`
    update tokens set ${api.db.unsafe(column)} = now() - make_interval(days => ${days}) where id = ${id}`;
const left = async (ids: string[]) => {
  const rows = await api.db<{ id: string }[]>`
    select id from tokens where id = any(${api.db.array(ids, "text")}) order by id`;
  return rows.map(({ id }) => id);
};

test("a token goes when it was revoked or expired for as long as activity is kept, and no other does", async () => {
  const [revoked, expired, fresh, recent, soon] = await Promise.all(
    [1, 2, 3, 4, 5].map(async () => (await newToken(owner, ["caches:read"])).id),
  );
  await ends(String(revoked), "revoked_at", DAYS + 1);
  await ends(String(expired), "expires_at", DAYS + 1);
  await ends(String(recent), "revoked_at", DAYS - 1);
  await ends(String(soon), "expires_at", -1);
  // The tokens of the operator stay, so that the next start cannot bring a revoked one back.
  const operators = await createToken(api.db, [], {
    organizationName: "default",
    name: "ci",
    abilities: ["*"],
  });
  await ends(operators.id, "revoked_at", DAYS + 1);
  expect(await pruneTokens(api.db, DAYS, 1)).toBe(2);
  const all = [revoked, expired, fresh, recent, soon, operators.id].map(String);
  expect(await left(all)).toEqual([fresh, recent, soon, operators.id].map(String).toSorted());
});

test("a token whose resources are still there stays until they are gone, and its sums go with it", async () => {
  const { id, token } = await newToken(owner, ["*"]);
  const made = await api.request("/api/caches", { token, json: validCache });
  const { data } = (await made.json()) as { data: { id: string } };
  await ends(id, "revoked_at", DAYS + 1);
  expect(await pruneTokens(api.db, DAYS, 10)).toBe(0);
  await api.db`delete from allocations where resource_id = ${data.id}`;
  expect(await pruneTokens(api.db, DAYS, 10)).toBe(1);
  expect(await api.db`select from quota_usage where owner = ${id}`).toHaveLength(0);
});

test("the lookups of an organization read none of its revoked tokens, and none of others", async () => {
  const { id } = await newToken(owner, ["caches:read"]);
  await api.db`
    insert into tokens (id, organization_id, name, token_hash, abilities, user_id, revoked_at)
    select 'dead-' || n, organization_id, name, 'dead-' || n, abilities, user_id, now()
    from tokens cross join generate_series(1, 2000) n where id = ${id}`;
  const [user] = await api.db<{ id: string }[]>`select user_id as id from tokens where id = ${id}`;
  const userId = user?.id ?? "";
  const live = (await listTokenRows(api.db, { organizationId, userId: null })).length;
  for (const lookup of [
    async (tx) => await listTokenRows(tx, { organizationId, userId: null }),
    async (tx) => await countTokens(tx, organizationId),
    async (tx) => await revokeTokensBeyond(tx, { organizationId, userId }, ["caches:read"]),
  ] satisfies Parameters<typeof rowsRead>[2][])
    expect(await rowsRead(api.db, "tokens", lookup)).toBeLessThanOrEqual(2 * live);
  await api.db`delete from tokens where id like 'dead-%'`;
});
