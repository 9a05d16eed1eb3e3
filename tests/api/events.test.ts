// Events: one for each change of a resource, in the order of the commits, listed for tokens that may see the resource.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eraseRow, writeProgress } from "../../src/resources/shared/rows.ts";
import type { EventResource } from "../../src/resources/shared/event-schema.ts";
import { recordEvent, type NewEvent } from "../../src/resources/shared/events/record.ts";
import { pruneEvents } from "../../src/resources/shared/events/retention.ts";
import { startApi, validCache, validDatabase, validServer, type TestApi } from "../support/api/api.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";
import { becomes } from "../support/api/resources-api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());
beforeEach(async () => {
  await api.db`delete from events`;
});

interface Page {
  data: EventResource[];
  links: { first: string; next?: string };
  meta: { per_page: number; next_cursor: string | null };
}

async function list(query = "", token?: string): Promise<Page> {
  const response = await api.request(`/api/events${query}`, token === undefined ? {} : { token });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Page;
}

async function create(path: string, json: object): Promise<string> {
  const response = await api.request(`/api${path}`, { json });
  expect(response.status).toBe(201);
  return ((await response.json()) as { data: { id: string } }).data.id;
}

const namesOf = async (query: string) =>
  (await list(query)).data.map(({ attributes }) => attributes.resource_name);
const typesOf = ({ data }: Page) => data.map(({ attributes }) => attributes.type).toReversed();
const messagesOf = ({ data }: Page) => data.map(({ attributes }) => attributes.message).toReversed();

describe("the events of a cache", () => {
  test("go from its creation to its deletion, and outlive it", async () => {
    const id = await create("/caches", validCache);
    await becomes(api, "caches", id, "available");
    await becomes(api, "caches", id, "available");
    await api.request(`/api/caches/${id}`, { method: "PATCH", json: { size: "valkey-flex-1gb" } });
    await becomes(api, "caches", id, "available");
    const crash = { engine: null, limits: null, lastError: "The engine ended unexpectedly." };
    await api.db.begin((tx) => writeProgress(tx, "caches", id, "updating", crash));
    await becomes(api, "caches", id, "available");
    await api.request(`/api/caches/${id}/rotate-credentials`, { method: "POST" });
    await api.request(`/api/caches/${id}`, { method: "DELETE" });
    await api.db.begin((tx) => eraseRow(tx, "caches", id));
    expect(messagesOf(await list())).toEqual([
      "The cache sessions was created.",
      "The cache sessions is available.",
      "The cache sessions was changed: size.",
      "The cache sessions is available.",
      "The cache sessions is not available. The engine ended unexpectedly.",
      "The cache sessions is available.",
      "The cache sessions was changed: credentials.",
      "The cache sessions is being deleted.",
      "The cache sessions is deleted.",
    ]);
  });

  test("name the request that caused an event, and no request for an event without a request", async () => {
    const headers = { "X-Request-Id": "deploy-7" };
    const created = await api.request("/api/caches", { json: validCache, headers });
    const { id } = ((await created.json()) as { data: { id: string } }).data;
    await becomes(api, "caches", id, "available");
    const { data } = await list();
    expect(data.map(({ meta }) => meta.request_id)).toEqual([null, "deploy-7"]);
    expect(data[0]?.relationships.resource.data).toEqual({ type: "caches", id });
  });

  test("do not include a refused create", async () => {
    expect((await api.request("/api/caches", { json: { ...validCache, size: "no" } })).status).toBe(422);
    expect((await list()).data).toEqual([]);
  });

  test("include one event for requests with the same Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": "once-and-only-once" };
    for (let count = 0; count < 3; count++) await api.request("/api/caches", { json: validCache, headers });
    expect(typesOf(await list())).toEqual(["created"]);
  });
});

describe("events of parts of clusters", () => {
  test("belong to a database itself", async () => {
    const id = await create("/databases/clusters", validDatabase);
    const schema = await create(`/databases/clusters/${id}/databases`, { name: "reports" });
    await api.request(`/api/databases/clusters/${id}/databases/${schema}`, { method: "DELETE" });
    expect(messagesOf(await list())).toEqual([
      "The database cluster orders was created.",
      "The database reports was created.",
      "The database reports is being deleted.",
    ]);
  });

  test("belong to an application itself, and have no values", async () => {
    const id = await create("/websocket-servers", validServer);
    const application = await create(`/websocket-servers/${id}/applications`, { name: "shop" });
    const path = `/api/websocket-applications/${application}`;
    const webhooks = [{ url: "https://example.com/s3cret", event_types: ["channel_occupied"] }];
    expect((await api.request(path, { method: "PATCH", json: { webhooks } })).status).toBe(200);
    await api.request(path, { method: "DELETE" });
    const page = await list();
    expect(messagesOf(page)).toEqual([
      "The WebSocket cluster chat was created.",
      "The WebSocket application shop was created.",
      "The WebSocket application shop was changed: webhooks.",
      "The WebSocket application shop is deleted.",
    ]);
    expect(JSON.stringify(page)).not.toContain("s3cret");
  });
});

describe("the list of events", () => {
  test("has pages that neither miss nor repeat an event, even while events are added", async () => {
    await addMany(25);
    const ids: string[] = [];
    let next: string | undefined = "?page[size]=4";
    while (next !== undefined) {
      const page: Page = await list(next);
      ids.push(...page.data.map(({ id }) => id));
      await add({});
      next = page.links.next && new URL(page.links.next).search;
    }
    expect(ids).toHaveLength(25);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => Number(b) - Number(a)));
  });

  test.each([
    ["type", "?filter[type]=available,deleted", ["available", "deleted"]],
    ["type of resource", "?filter[resource_type]=databases", ["deleted"]],
    ["both", "?filter[type]=available&filter[resource_type]=caches", ["available"]],
    ["resource", "?filter[resource]=cache-2,db-1", ["available", "deleted"]],
    ["resource and type", "?filter[resource]=cache-2,db-1&filter[type]=deleted", ["deleted"]],
    ["an empty filter", "?filter[type]=", ["created", "available", "deleted"]],
  ])("can be filtered by %s", async (_what, query, types) => {
    await add({ type: "created", resource: { type: "caches", id: "cache-1", name: "a" } });
    await add({ type: "available", resource: { type: "caches", id: "cache-2", name: "b" } });
    await add({ type: "deleted", resource: { type: "databases", id: "db-1", name: "c" } });
    expect(typesOf(await list(query)) as string[]).toEqual(types);
  });

  test("can be filtered by time, and is in the order of time", async () => {
    for (const hour of ["03", "01", "02"]) {
      await add({ resource: { type: "caches", id: "cache-1", name: hour } });
      await api.db`update events set at = ${`2026-03-15T${hour}:00:00Z`}::timestamptz where resource_name = ${hour}`;
    }
    expect(await namesOf("")).toEqual(["03", "02", "01"]);
    expect(await namesOf("?filter[since]=2026-03-15T02:00:00Z")).toEqual(["03", "02"]);
    expect(await namesOf("?filter[until]=2026-03-15T03:00:00%2B01:00")).toEqual(["01"]);
  });

  test.each([
    ["?filter[type]=crash", "filter[type]"],
    ["?filter[since]=yesterday", "filter[since]"],
    ["?page[cursor]=x", "page[cursor]"],
    ["?page[size]=101", "page[size]"],
    [`?filter[resource]=${Array.from({ length: 21 }, (_, n) => `cache-${n}`).join(",")}`, "filter[resource]"],
    ["?filter[resource]=a'b", "filter[resource]"],
  ])("refuses %s and names the member", async (query, member) => {
    const response = await api.request(`/api/events${query}`);
    expect(response.status).toBe(422);
    expect(Object.keys(((await response.json()) as { errors: object }).errors)).toEqual([member]);
  });

  test("refuses an unknown filter", async () => {
    expect((await api.request("/api/events?filter[colour]=red")).status).toBe(400);
  });

  test("is as documented", async () => {
    const document = await documentOf(api);
    await addMany(3);
    for (const path of ["?page[size]=1", "", "?page[size]=0"])
      await expectDocumented(document, "/events", "get", await api.request(`/api/events${path}`));
  });
});

describe("the events for a token", () => {
  test("are those of resources that it may read", async () => {
    await create("/caches", validCache);
    await create("/databases/clusters", validDatabase);
    await create("/websocket-servers", validServer);
    const token = await api.newToken(["databases:read", "caches:write"]);
    const names = messagesOf(await list("", token));
    expect(names).toEqual(["The database cluster orders was created."]);
    expect((await list("?filter[resource_type]=caches", token)).data).toEqual([]);
    const writer = await api.newToken(["caches:write"]);
    expect((await api.request("/api/events", { token: writer })).status).toBe(403);
  });

  test("are never those of another organization", async () => {
    const id = await create("/caches", validCache);
    const otherToken = await api.newToken(["*"], "others");
    expect((await list("", otherToken)).data).toEqual([]);
    expect((await list(`?filter[resource]=${id}`, otherToken)).data).toEqual([]);
  });
});

describe("ids of events", () => {
  test("follow the order of the commits, so that a reader after the highest id misses no event", async () => {
    const seen: number[] = [];
    let isOver = false;
    const reader = (async () => {
      let after = 0;
      for (let isLast = false; !isLast;) {
        isLast = isOver;
        const rows = await api.db<{ id: number }[]>`
          select id::float8 as id from events where organization_id = 'org-many' and id > ${after} order by id`;
        seen.push(...rows.map(({ id }) => id));
        after = seen.at(-1) ?? 0;
      }
    })();
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let count = 0; count < 30; count++) {
        await api.db.begin(async (tx) => {
          await add({ organizationId: "org-many" }, tx);
          // Some transactions hold their id for longer than others.
          if ((count + writer) % 3 === 0) await tx`select pg_sleep(0.002)`;
          if (count % 7 === 0) await add({ organizationId: "org-many" }, tx);
        });
      }
    });
    await Promise.all(writers);
    isOver = true;
    await reader;
    const [row] = await api.db<{ count: number }[]>`
      select count(*)::int as count from events where organization_id = 'org-many'`;
    expect(seen).toHaveLength(row?.count ?? 0);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
  });
});

describe("old events", () => {
  test("are deleted in batches, and younger events stay", async () => {
    await addMany(25);
    await api.db`update events set at = now() - interval '91 days'`;
    await addMany(3);
    expect(await pruneEvents(api.db, 90, 10)).toBe(25);
    expect((await list()).data).toHaveLength(3);
    expect(await pruneEvents(api.db, 90, 10)).toBe(0);
  });

  test("are deleted by one process at a time", async () => {
    await addMany(2);
    await api.db`update events set at = now() - interval '91 days'`;
    await api.db.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(7458004)`;
      expect(await pruneEvents(api.db, 90, 10)).toBe(0);
    });
    expect(await pruneEvents(api.db, 90, 10)).toBe(2);
  });
});

async function add(event: Partial<NewEvent>, tx?: Parameters<typeof recordEvent>[0]): Promise<void> {
  const [row] = await api.db<{ id: string }[]>`select id from organizations where name = 'default'`;
  const resource = { type: "caches" as const, id: "cache-1", name: "sessions" };
  const whole: NewEvent = { organizationId: row?.id ?? "", type: "available", resource, ...event };
  if (tx !== undefined) return await recordEvent(tx, whole);
  await api.db.begin((own) => recordEvent(own, whole));
}

async function addMany(count: number): Promise<void> {
  for (let number = 0; number < count; number++) await add({});
}
