// Creates that repeat the same Idempotency-Key make one resource.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

interface Answer {
  data: { id: string; attributes: { connection: Record<string, unknown> } };
  errors?: Record<string, string[]>;
}

async function create(key: string, json: unknown = validCache, token = api.token) {
  const response = await api.request("/api/caches", { json, token, headers: { "Idempotency-Key": key } });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer };
}

test("a repeated create answers with the same cache, rendered for the token of the request", async () => {
  const first = await create("again");
  const second = await create("again", { ...validCache, is_public: null, unknown: true });
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body).toEqual(first.body);
  expect(second.headers.get("location")).toBe(first.headers.get("location"));
  expect([first, second].map(({ headers }) => headers.get("idempotent-replayed"))).toEqual([null, "true"]);
  const third = await create("again", validCache, await api.newToken(["caches:write"]));
  expect(third.body.data.id).toBe(first.body.data.id);
  expect(third.body.data.attributes.connection[""]).toEqual([]);
});

test("twenty creates at once with one key make one cache, one port, one work row and one audit row", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => create("at once")));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  const ids = new Set(answers.map(({ body }) => body.data.id));
  expect(ids.size).toBe(1);
  expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
  const [id] = ids;
  const [counts] = await api.db`
    select (select count(*)::int from caches where id = ${id}) as caches,
           (select count(*)::int from instances where resource_id = ${id}) as ports,
           (select count(*)::int from work where id = ${id}) as work,
           (select count(*)::int from audit where resource_id = ${id}) as audit`;
  expect(counts).toEqual({ caches: 1, ports: 1, work: 1, audit: 1 });
});

test("another request with the same Idempotency-Key is refused", async () => {
  await create("other");
  const { status, body } = await create("other", { ...validCache, name: "different" });
  expect(status).toBe(422);
  expect(Object.keys(body.errors ?? {})).toEqual(["Idempotency-Key"]);
});

test("an Idempotency-Key whose cache was deleted is a conflict", async () => {
  const { body } = await create("gone");
  await api.db.begin((tx) => eraseCache(tx, body.data.id));
  expect((await create("gone")).status).toBe(409);
});

test("an Idempotency-Key belongs to one organization", async () => {
  const first = await create("shared");
  const second = await create("shared", validCache, await api.newToken(["*"], "elsewhere"));
  expect(second.status).toBe(201);
  expect(second.body.data.id).not.toBe(first.body.data.id);
});

test("an Idempotency-Key is free again after a day", async () => {
  const first = await create("old");
  await api.db`update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'`;
  const second = await create("old", { ...validCache, name: "different" });
  expect(second.status).toBe(201);
  expect(second.body.data.id).not.toBe(first.body.data.id);
});

test("a refused create does not use up its Idempotency-Key", async () => {
  expect((await create("retry", { ...validCache, name: "A" })).status).toBe(422);
  expect((await create("retry")).status).toBe(201);
});

test.each([
  ["too long", "x".repeat(256)],
  ["not ASCII", "schlüssel"],
  ["empty", ""],
])("a key that is %s is refused together with other faults", async (_what, key) => {
  const { status, body } = await create(key, { ...validCache, name: "A" });
  expect(status).toBe(422);
  expect(Object.keys(body.errors ?? {}).sort()).toEqual(["Idempotency-Key", "name"]);
});
