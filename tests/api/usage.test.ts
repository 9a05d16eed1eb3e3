// `GET /usage`: who may read it, filters, pages, the table in CSV, samples of storage and connections, and its bounds.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLog } from "../../src/lib/log.ts";
import { eraseCache } from "../../src/resources/caches/store.ts";
import type { Reading } from "../../src/contracts/readings.ts";
import { takeRecords } from "../../src/resources/shared/events/intake.ts";
import { takeReadings } from "../../src/resources/shared/metrics/intake.ts";
import type { UsageMeta, UsageResource } from "../../src/resources/shared/usage-schema.ts";
import { csvRow } from "../../src/resources/shared/usage/csv.ts";
import { updateUsage } from "../../src/resources/shared/usage/keep.ts";
import { rollUpHours, sampleStorage } from "../../src/resources/shared/usage/sample.ts";
import { startApi, validCache, validServer, type TestApi } from "../support/api/api.ts";
import { documentOf, expectDocumented } from "../support/api/openapi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

interface Page {
  data: UsageResource[];
  links: { next?: string };
  meta: UsageMeta;
}

async function usage(query = "", token?: string): Promise<Page> {
  const response = await api.request(`/api/usage${query}`, token === undefined ? {} : { token });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Page;
}

async function create(path: string, json: object, token?: string): Promise<string> {
  const response = await api.request(`/api${path}`, { json, ...(token !== undefined && { token }) });
  expect(response.status).toBe(201);
  return ((await response.json()) as { data: { id: string } }).data.id;
}

let sequence = 0;
async function happens(id: string, type: "started" | "stopped" | "asleep"): Promise<void> {
  sequence += 1;
  const record = { sequence, id, at: new Date().toISOString(), type, details: {} };
  await takeRecords(api.db, "host-1", [record], createLog("test", "silent"));
}

const month = () => new Date().toISOString().slice(0, 7);

describe("the usage of an organization", () => {
  test("is documented, and shows a running cache until the present", async () => {
    const token = await api.newToken(["*"], "runners");
    const id = await create("/caches", validCache, token);
    const beforeMs = Date.now();
    await happens(id, "started");
    const startedMs = Date.now();
    const response = await api.request("/api/usage", { token });
    const { data, meta } = (await response.json()) as Page;
    const readMs = Date.now();
    expect(data.map((each) => each.id)).toEqual([id]);
    const { totals: total } = data[0]?.attributes ?? expect.unreachable();
    expect(total.awake_ms).toBeLessThanOrEqual(readMs - beforeMs);
    expect(total.awake_ms).toBeGreaterThanOrEqual(0);
    expect((await usage("", token)).data[0]?.attributes.totals.awake_ms).toBeGreaterThanOrEqual(
      readMs - startedMs,
    );
    expect([meta.month, meta.totals]).toEqual([month(), total]);
    const again = await api.request("/api/usage", { token });
    await expectDocumented(await documentOf(api), "/usage", "get", again);
  });

  test("needs the ability usage:read, which belongs to no kind", async () => {
    const reader = await api.newToken(["usage:read"], "runners");
    expect((await usage("", reader)).data).toHaveLength(1);
    const other = await api.newToken(["caches:read", "caches:write"], "runners");
    expect((await api.request("/api/usage", { token: other })).status).toBe(403);
    expect((await usage("", await api.newToken(["*"], "strangers"))).data).toEqual([]);
  });

  test.each([
    ["month=2026-13", "month"],
    ["month=november", "month"],
    ["filter[kind]=routers", "filter[kind]"],
    ["filter[resource]=a%20b", "filter[resource]"],
    ["per_page=101", "per_page"],
    ["format=xml", "format"],
  ])("with %s is a 422 that names %s", async (query, field) => {
    const response = await api.request(`/api/usage?${query}`);
    expect(response.status).toBe(422);
    expect(Object.keys(((await response.json()) as { errors: object }).errors)).toEqual([field]);
  });

  test("has filters and pages, and totals over all pages", async () => {
    const token = await api.newToken(["*"], "pages");
    const ids: string[] = [];
    for (const name of ["one", "two", "three"])
      ids.push(await create("/caches", { ...validCache, name }, token));
    const server = await create("/websocket-servers", validServer, token);
    await happens(ids[0] ?? "", "started");
    await happens(ids[2] ?? "", "started");
    await happens(ids[0] ?? "", "stopped");
    await happens(ids[2] ?? "", "stopped");
    const first = await usage("?per_page=2&filter[kind]=caches", token);
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const next = await (
      await fetch(first.links.next ?? "", { headers: { Authorization: `Bearer ${token}` } })
    ).json();
    expect((next as Page).data.map(({ id }) => id)).toEqual(ids.slice(2));
    const all = await usage("", token);
    expect(all.data.map(({ id }) => id)).toEqual([...ids, server]);
    const sum = all.data.reduce((ms, { attributes }) => ms + attributes.totals.awake_ms, 0);
    expect([all.meta.totals.awake_ms, first.meta.totals.awake_ms]).toEqual([sum, sum]);
    expect((await usage(`?filter[resource]=${ids[1]},${server}`, token)).data.map(({ id }) => id)).toEqual([
      ids[1] ?? "",
      server,
    ]);
    expect((await usage("?month=2001-01", token)).data).toEqual([]);
  });
});

test("a deleted resource still counts in its month, with its last name and its storage", async () => {
  const token = await api.newToken(["*"], "deleters");
  const id = await create("/caches", validCache, token);
  await api.request(`/api/caches/${id}`, { method: "PATCH", json: { name: "renamed" }, token });
  await happens(id, "started");
  await api.db`update allocations set storage_bytes = 5000000 where resource_id = ${id}`;
  await api.request(`/api/caches/${id}`, { method: "DELETE", token });
  await happens(id, "stopped");
  await api.db.begin((tx) => eraseCache(tx, id));
  const before = (await usage("", token)).data[0]?.attributes;
  await updateUsage(api.db);
  const { attributes } = (await usage("", token)).data[0] ?? expect.unreachable();
  expect(attributes.name).toBe("renamed");
  expect(attributes.deleted_at).not.toBeNull();
  expect(attributes.totals.awake_ms).toBe(before?.totals.awake_ms ?? -1);
  expect(attributes.totals.storage_byte_hours).toBe(5_000_000);
});

test("storage is sampled each hour, also for hours without a control plane, and no sample counts twice", async () => {
  const token = await api.newToken(["*"], "storage");
  const id = await create("/caches", validCache, token);
  const hours = 30;
  await api.db`
    update usage_resources set created_at = date_trunc('hour', now(), 'UTC') - make_interval(hours => ${hours})
    where resource_id = ${id}`;
  await api.db`update allocations set storage_bytes = 1000 where resource_id = ${id}`;
  await api.db`delete from usage_hours`;
  await api.db`
    insert into usage_hours (resource_id, hour, storage_bytes)
    values (${id}, date_trunc('hour', now(), 'UTC') - make_interval(hours => ${hours}), 700)`;
  for (let count = 0; count < 3; count++) await rollUpHours(api.db, await sampleStorage(api.db));
  const rows = await api.db<{ bytes: number }[]>`
    select storage_bytes::float8 as bytes from usage_hours where resource_id = ${id} order by hour`;
  expect(rows.map(({ bytes }) => bytes)).toEqual([700, ...Array.from({ length: hours }, () => 1_000)]);
  const [days] = await api.db<{ sum: number }[]>`
    select sum(storage_byte_hours)::float8 as sum from usage_days where resource_id = ${id}`;
  await rollUpHours(api.db, new Date(0));
  const [again] = await api.db<{ sum: number }[]>`
    select sum(storage_byte_hours)::float8 as sum from usage_days where resource_id = ${id}`;
  expect(again?.sum).toBe(700 + hours * 1_000);
  expect(days?.sum).toBeLessThanOrEqual(again?.sum ?? 0);
});

const MINUTE_MS = 60_000;
const MONTH_MS = Date.parse(`${month()}-01T00:00:00Z`);
const MINUTES_SO_FAR = Math.floor((Date.now() - MONTH_MS) / MINUTE_MS);
/** The present minute. In the first minutes of a month that month's beginning: the minutes before are of a single month. */
const PRESENT_MS = MONTH_MS + (MINUTES_SO_FAR > 3 ? MINUTES_SO_FAR * MINUTE_MS : 0);
const minuteMs = (back: number) => PRESENT_MS - back * MINUTE_MS;
const MONTH_OF_MINUTES = new Date(minuteMs(1)).toISOString().slice(0, 7);

function reading(id: string, figures: Partial<Reading>): Reading {
  return { id, awakeMs: MINUTE_MS, computeMs: MINUTE_MS, cpuMs: 1, memoryBytes: 1, wakes: 0, ...figures };
}

async function take(...batches: [atMs: number, reading: Reading][]): Promise<void> {
  const taken = batches.map(([atMs, each]) => ({ at: new Date(atMs).toISOString(), readings: [each] }));
  await takeReadings(api.db, "host-1", taken, Date.now());
}

/** The totals of a resource that is older than the last minutes. */
async function totalsOf(id: string, token: string) {
  await api.db`update usage_resources set created_at = ${new Date(minuteMs(60))} where resource_id = ${id}`;
  await updateUsage(api.db);
  return (
    (await usage(`?month=${MONTH_OF_MINUTES}`, token)).data[0]?.attributes.totals ?? expect.unreachable()
  );
}

describe("readings", () => {
  test("add up the messages of a WebSocket cluster, each minute once, also those of yesterday", async () => {
    const token = await api.newToken(["*"], "sockets");
    const id = await create("/websocket-servers", validServer, token);
    const cluster = (connections: number, messagesReceived: number, messagesSent: number) =>
      reading(id, { connections, messagesReceived, messagesSent });
    const first: [number, Reading][] = [
      [minuteMs(3), cluster(3, 10, 100)],
      [minuteMs(2), cluster(9, 5, 60)],
    ];
    await take(...first);
    await take(...first, [minuteMs(1), cluster(2, 4, 20)]);
    await take([minuteMs(1), cluster(50, 99, 99)]);
    const total = await totalsOf(id, token);
    expect([total.max_connections, total.messages_received, total.messages_sent]).toEqual([9, 19, 180]);
    expect(total.awake_mib_seconds).toBe(0);
    await take([minuteMs(24 * 60), cluster(1, 1_000, 1)]);
    await updateUsage(api.db);
    const [sums] = await api.db<{ received: number; days: number }[]>`
      select sum(messages_received)::float8 as received, count(*)::int as days from usage_days
      where resource_id = ${id} and messages_received > 0`;
    expect(sums?.received).toBe(1_019);
    expect(sums?.days).toBeGreaterThanOrEqual(2);
  });

  test("have the clients of a cache at the gateway, or at its engine where there is no gateway", async () => {
    const token = await api.newToken(["*"], "clients");
    const id = await create("/caches", validCache, token);
    await take([minuteMs(3), reading(id, { connections: 40, gatewayConnections: 7 })]);
    const total = await totalsOf(id, token);
    expect([total.max_connections, total.messages_received]).toEqual([7, null]);
    await take([minuteMs(2), reading(id, { connections: 8 })]);
    expect((await totalsOf(id, token)).max_connections).toBe(8);
  });

  test("of an unknown instance count nowhere", async () => {
    const [before] = await api.db<{ count: number }[]>`select count(*)::int as count from usage_hours`;
    await take([minuteMs(2), reading("ws-unknown", { messagesSent: 7 })]);
    expect(await api.db`select count(*)::int as count from usage_hours`).toEqual([before] as never);
  });
});

describe("the table in CSV", () => {
  test("is chosen by the query or by Accept, and has a row for each resource and day", async () => {
    const token = await api.newToken(["*"], "tables");
    const id = await create("/caches", { ...validCache, name: "-1-sessions" }, token);
    await happens(id, "started");
    for (const [query, headers] of [
      ["?format=csv", {}],
      ["", { Accept: "text/csv, */*;q=0.1" }],
    ] as const) {
      const response = await api.request(`/api/usage${query}`, { token, headers });
      expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8; header=present");
      const [head, row, ...others] = (await response.text()).split("\r\n");
      expect(head).toStartWith("day,resource_id,kind,type,name,awake_ms,");
      expect(row).toStartWith(
        `${new Date().toISOString().slice(0, 10)},${id},caches,platform_valkey,'-1-sessions,`,
      );
      expect(others).toEqual([""]);
    }
    const json = await api.request("/api/usage", {
      token,
      headers: { Accept: "application/json, text/csv" },
    });
    expect(json.headers.get("Content-Type")).toBe("application/vnd.api+json");
    const types = (await documentOf(api)).paths["/usage"]?.["get"]?.responses["200"]?.content;
    expect(Object.keys(types ?? {})).toEqual(["application/vnd.api+json", "text/csv"]);
  });

  test.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])("has no formula from %j", (text) => {
    expect(csvRow([text]).replaceAll('"', "")).toStartWith("'");
  });

  test("quotes what would end a cell", () => {
    expect(csvRow(['a"b', "c,d", "e\nf", null, -1, true])).toBe('"a""b","c,d","e\nf",,-1,true\r\n');
  });
});

test("a month of 1,000 resources among twelve months is read in bounded time and memory", async () => {
  const token = await api.newToken(["*"], "large");
  const [owner] = await api.db<{ id: string }[]>`select id from organizations where name = 'large'`;
  await api.db`
    insert into usage_resources (resource_id, organization_id, kind, type, name, created_at, counted_until, state)
    select 'cache-large-' || lpad(n::text, 4, '0'), ${owner?.id ?? ""}, 'caches', 'platform_valkey', 'large',
           now() - interval '12 months', now(), 'awake'
    from generate_series(1, 1000) n`;
  await api.db`
    insert into usage_sizes (resource_id, since, memory_bytes)
    select resource_id, created_at, 1073741824 from usage_resources where name = 'large'`;
  await api.db`
    insert into usage_days (resource_id, day, awake_ms, awake_mib_ms, state)
    select r.resource_id, day, 86400000, 86400000::bigint * 1024, 'awake'
    from usage_resources r
    cross join generate_series(r.created_at::date, now()::date - 1, interval '1 day') day
    where name = 'large'`;
  await api.db`analyze usage_days, usage_resources`;
  const last = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1));
  const name = last.toISOString().slice(0, 7);
  const page = await usage(`?month=${name}`, token);
  const daysOfMonth = page.meta.days.length;
  expect(page.data).toHaveLength(100);
  expect(page.meta.totals.awake_ms).toBe(daysOfMonth * 1_000 * 86_400_000);
  expect(page.meta.totals.awake_mib_seconds).toBe(daysOfMonth * 1_000 * 86_400 * 1_024);
  let bytes = 0;
  let largest = 0;
  const table = await api.request(`/api/usage?month=${name}&format=csv`, { token });
  for await (const chunk of table.body ?? []) {
    bytes += chunk.byteLength;
    largest = Math.max(largest, chunk.byteLength);
  }
  expect(bytes).toBeGreaterThan(1_000 * daysOfMonth * 80);
  expect(largest).toBeLessThan(2_000_000);
}, 120_000);
