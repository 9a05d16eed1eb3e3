// Requests that are odd but well-formed: whatever a client writes into them has a bound, and gets a sentence.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { EventResource } from "../../src/resources/shared/event-schema.ts";
import { startApi, validCache, validDatabase, type TestApi } from "../support/api/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

async function eventsOf(query: string): Promise<EventResource[]> {
  const response = await api.request(`/api/events?${query}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: EventResource[] }).data;
}

async function newCluster(): Promise<string> {
  const response = await api.request("/api/databases/clusters", { json: validDatabase });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

test("a change names the members that the type knows in its event, and none that the client made up", async () => {
  const id = await newCluster();
  const madeUp = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`member-${at}`, at]));
  const json = { config: { ...madeUp, cu_max: 1 } };
  const changed = await api.request(`/api/databases/clusters/${id}`, { method: "PATCH", json });
  expect(changed.status).toBe(200);
  const [event] = await api.db<{ details: { changed: string[] } }[]>`
    select details from events where resource_id = ${id} and type = 'changed'`;
  expect(JSON.stringify(event?.details)).toContain("config.cu_max");
  expect(JSON.stringify(event?.details)).not.toContain("member-");
});

const NESTED = "[".repeat(200_000) + "]".repeat(200_000);

test.each([
  ["an object for one of many values", JSON.stringify({ ...validCache, size: { toString: 1 } }), "size"],
  ["deep nesting", JSON.stringify({ ...validCache, size: 1 }).replace(/1}$/, `${NESTED}}`), "body"],
])("%s is refused with the name of the field", async (_what, body, field) => {
  const headers = { "content-type": "application/json" };
  const response = await api.request("/api/caches", { method: "POST", body, headers });
  expect(response.status).toBe(422);
  expect(Object.keys(((await response.json()) as { errors: object }).errors)).toEqual([field]);
});

test.each([
  ["0000-01-01T00:00:00Z", 422],
  ["0001-01-01T00:00:00%2B05:00", 422],
  [`2026-03-15T08:00:00.${"1".repeat(300)}Z`, 422],
  ["2026-03-15T08:00:00%2B20:00", 200],
  ["2026-03-15T08:00:00.123456789-11:30", 200],
])("the time %s in a filter is answered with %p", async (time, status) => {
  for (const path of ["events", "activity"])
    expect((await api.request(`/api/${path}?filter[since]=${time}`)).status).toBe(status);
});

test("a token does not end at a time of any number of digits", async () => {
  const json = { name: "long", abilities: ["*"], expires_at: `2099-03-15T08:00:00.${"1".repeat(100_000)}Z` };
  const response = await api.request("/api/tokens", { json });
  expect(response.status).toBe(422);
  expect(Object.keys(((await response.json()) as { errors: object }).errors)).toEqual(["expires_at"]);
});

test("a value that a filter names twice counts once", async () => {
  const id = await newCluster();
  const once = await eventsOf(`filter[resource]=${id}`);
  expect(once.length).toBeGreaterThan(0);
  expect(await eventsOf(`filter[resource]=${id},${id}`)).toEqual(once);
  const created = await eventsOf("filter[type]=created");
  expect(await eventsOf("filter[type]=created,created&filter[type]=created")).toEqual(created);
});

test("each include of several is looked at", async () => {
  const list = "/api/databases/clusters";
  expect((await api.request(`${list}?include=databases&include=bogus`)).status).toBe(400);
  const response = await api.request(`${list}?include=&include=databases`);
  const { included } = (await response.json()) as { included: unknown[] };
  expect(included.length).toBeGreaterThan(0);
});
