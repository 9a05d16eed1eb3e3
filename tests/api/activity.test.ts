// `GET /activity`: who changed what, from where and when, by page and filter, for its own organization, until it is old.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import type { ActivityResource } from "../../src/resources/activity/schema.ts";
import { pruneActivity } from "../../src/resources/activity/retention.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  await api.db`delete from audit`;
});

interface Page {
  data: ActivityResource[];
  links: { first: string; next?: string };
  meta: { per_page: number; next_cursor: string | null };
}

async function list(query = "", token?: string): Promise<Page> {
  const response = await api.request(`/api/activity${query}`, token === undefined ? {} : { token });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Page;
}

async function create(name: string, token?: string): Promise<string> {
  const response = await api.request("/api/caches", {
    json: { ...validCache, name },
    ...(token !== undefined && { token }),
  });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

const actionsOf = ({ data }: Page) => data.map(({ attributes }) => attributes.action);

test("a request is recorded with its token, its address, its parameters and its id", async () => {
  const request = new Request(`${api.origin}/api/caches`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${api.token}`,
      "Content-Type": "application/json",
      "X-Request-Id": "deploy-1",
    },
    body: JSON.stringify(validCache),
  });
  const made = await api.app.fetch(request, { address: "192.0.2.17" });
  const { id } = ((await made.json()) as { data: { id: string } }).data;
  const response = await api.request("/api/activity");
  await expectDocumented(await documentOf(api), "/activity", "get", response);
  const { data } = await list();
  expect(data).toHaveLength(1);
  expect(data[0]?.attributes).toMatchObject({
    action: "create",
    kind: "caches",
    resource_id: id,
    actor: { type: "token", name: "test" },
    address: "192.0.2.17",
    details: { name: "sessions" },
  });
  expect(data[0]?.meta).toEqual({ request_id: "deploy-1" });
  expect(Date.now() - Date.parse(data[0]?.attributes.occurred_at ?? "")).toBeLessThan(600_000);
});

test("activity of earlier releases has no address, and a gone user no name", async () => {
  const [owner] = await api.db<{ id: string }[]>`select id from organizations where name = 'default'`;
  await api.db`
    insert into audit (organization_id, user_id, action, resource_kind, resource_id)
    values (${owner?.id ?? ""}, 'user-gone', 'delete', 'caches', 'cache-1')`;
  expect((await list()).data[0]?.attributes).toMatchObject({
    actor: { type: "user", id: "user-gone", name: null },
    address: null,
  });
});

test("activity needs its own ability, and belongs to its organization", async () => {
  await create("sessions");
  const reader = await api.newToken(["activity:read"]);
  expect((await list("", reader)).data).toHaveLength(1);
  const other = await api.newToken(["caches:read", "caches:write", "usage:read"]);
  expect((await api.request("/api/activity", { token: other })).status).toBe(403);
  const stranger = await api.newToken(["*"], "strangers");
  expect((await list("", stranger)).data).toEqual([]);
  const id = await create("theirs", stranger);
  expect((await list(`?filter[resource]=${id}`)).data).toEqual([]);
  expect((await list("", stranger)).data).toHaveLength(1);
});

test("activity is filtered by action, kind, resource and time", async () => {
  const one = await create("one");
  const two = await create("two");
  await api.request(`/api/caches/${one}`, { method: "PATCH", json: { name: "other" } });
  await api.request(`/api/caches/${two}`, { method: "DELETE" });
  const [former] = (await list()).data.slice(-1);
  await api.db`update audit set at = '2026-03-15T08:00:00Z' where id = ${former?.id ?? ""}::bigint`;
  const cases: [query: string, actions: string[]][] = [
    ["", ["delete", "update", "create", "create"]],
    ["?filter[action]=create", ["create", "create"]],
    ["?filter[action]=update,delete", ["delete", "update"]],
    ["?filter[kind]=caches,members&filter[action]=update", ["update"]],
    ["?filter[kind]=members,cache_snapshots", []],
    [`?filter[resource]=${two},${two}`, ["delete", "create"]],
    [`?filter[resource]=${one}&filter[action]=create`, ["create"]],
    ["?filter[until]=2026-03-15T08:00:01Z", ["create"]],
    ["?filter[since]=2026-03-15T08:00:01Z", ["delete", "update", "create"]],
  ];
  for (const [query, actions] of cases)
    expect([query, actionsOf(await list(query))]).toEqual([query, actions]);
});

test("pages follow each other without gaps, although times repeat", async () => {
  const ids: string[] = [];
  for (let number = 0; number < 7; number++) ids.push(await create(`cache-${number}`));
  await api.db`update audit set at = '2026-03-15T08:00:00Z'`;
  for (const filter of ["", "&filter[action]=create", "&filter[kind]=caches"]) {
    const seen: string[] = [];
    for (
      let address: string | undefined = `${api.origin}/api/activity?per_page=3${filter}`;
      address !== undefined;
    ) {
      const response: Response = await fetch(address, { headers: { Authorization: `Bearer ${api.token}` } });
      const page = (await response.json()) as Page;
      seen.push(...page.data.map(({ attributes }) => attributes.resource_id));
      address = page.links.next;
    }
    expect(seen).toEqual(ids.toReversed());
  }
});

test.each([
  ["filter[action]=a%20b", 422],
  ["filter[kind]=", 422],
  [`filter[action]=${Array.from({ length: 21 }, () => "create").join(",")}`, 422],
  ["filter[resource]=%3B", 422],
  ["filter[since]=yesterday", 422],
  ["page[cursor]=1", 422],
  ["filter[user]=1", 400],
])("activity with %s is a %p", async (query, status) => {
  expect((await api.request(`/api/activity?${query}`)).status).toBe(status);
});

test("old activity is deleted in batches, and the rest stays", async () => {
  for (let number = 0; number < 5; number++) await create(`old-${number}`);
  await api.db`update audit set at = now() - interval '401 days'`;
  await create("new");
  expect(await pruneActivity(api.db, 400, 2)).toBe(5);
  expect((await list()).data.map(({ attributes }) => attributes.details.name)).toEqual(["new"]);
});
