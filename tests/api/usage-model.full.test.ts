// `GET /usage` against a model: random lives of resources, whose events arrive late, twice and in any order of resources.
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { JournalRecord } from "../../src/contracts/journal.ts";
import { createLog } from "../../src/lib/log.ts";
import { eraseCache } from "../../src/resources/caches/store.ts";
import { eraseDatabaseCluster } from "../../src/resources/databases/store.ts";
import { takeRecords } from "../../src/resources/shared/events/intake.ts";
import { pruneEvents } from "../../src/resources/shared/events/retention.ts";
import { rollUp } from "../../src/resources/shared/usage/roll-up.ts";
import type { UsageResource } from "../../src/resources/shared/usage-schema.ts";
import { randomOf } from "../crash/random.ts";
import { startApi, validCache, validDatabase, type TestApi } from "../support/api/api.ts";
import { expectedDays, planLife, type ExpectedDay, type PlannedLife } from "../support/model/usage.ts";

const SEEDS = [11, 12, 13];
const RESOURCES = 12;
const DAYS = 50;
const DAY_MS = 86_400_000;

const KINDS = [
  {
    kind: "caches",
    path: "/api/caches",
    body: (size: number) => ({ ...validCache, size: ["valkey-flex-250mb", "valkey-flex-1gb"][size] }),
    change: (size: number) => ({ size: ["valkey-flex-250mb", "valkey-flex-1gb"][size] }),
    mebibytes: [250, 1_024],
    unit: null,
    erase: eraseCache,
  },
  {
    kind: "databases",
    path: "/api/databases/clusters",
    body: (size: number) => ({ ...validDatabase, config: { cu_max: [0.25, 1, 2][size] } }),
    change: (size: number) => ({ config: { cu_max: [0.25, 1, 2][size] } }),
    mebibytes: [1_024, 4_096, 8_192],
    unit: 4_096,
    erase: eraseDatabaseCluster,
  },
] as const;

type Kind = (typeof KINDS)[number];

interface Resource {
  id: string;
  kind: Kind;
  life: PlannedLife;
  hostId: string;
  records: JournalRecord[];
}

const log = createLog("test", "silent");

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

/** Moves what the store has just noted of a resource to another time. */
async function backdate(id: string, atMs: number): Promise<void> {
  const at = new Date(atMs);
  await api.db`
    update usage_sizes set since = ${at}
    where resource_id = ${id} and since = (select max(since) from usage_sizes where resource_id = ${id})
      and since > now() - interval '1 hour'`;
  await api.db`update usage_marks set at = ${at} where resource_id = ${id} and at > now() - interval '1 hour'`;
}

async function create(kind: Kind, life: PlannedLife, number: number): Promise<Resource> {
  const response = await api.request(kind.path, { json: kind.body(life.sizes[0]?.size ?? 0) });
  const { id } = ((await response.json()) as { data: { id: string } }).data;
  const at = new Date(life.createdMs);
  await api.db`update usage_resources set created_at = ${at}, counted_until = ${at} where resource_id = ${id}`;
  await backdate(id, life.createdMs);
  const hostId = `host-of-${id}`;
  await api.db`insert into hosts (id, name) values (${hostId}, ${`test ${number}`})`;
  const records = life.records.map((record, index) => ({ ...record, id, sequence: index + 1 }));
  return { id, kind, life, hostId, records };
}

/** Everything that happens to a resource and does not wait for anything else. */
function actionsOf(resource: Resource, random: () => number): (() => Promise<void>)[] {
  const { id, kind, life, hostId, records } = resource;
  const actions: (() => Promise<void>)[] = [];
  for (let from = 0; from < records.length;) {
    const to = from + 1 + Math.floor(random() * 12);
    // A control plane that was killed asks for records again that it has.
    const again = records.slice(Math.max(0, from - Math.floor(random() * 4)), to);
    actions.push(async () => void (await takeRecords(api.db, hostId, again, log)));
    from = to;
  }
  for (const { atMs, size } of life.sizes.slice(1)) {
    const change = async () => {
      const answer = await api.request(`${kind.path}/${id}`, { method: "PATCH", json: kind.change(size) });
      expect(answer.status).toBe(200);
      await backdate(id, atMs);
    };
    // The owner's changes come in their order, at any point between the records.
    const after = actions.findLastIndex((action) => changes.has(action)) + 1;
    actions.splice(after + Math.floor(random() * (actions.length - after + 1)), 0, change);
    changes.add(change);
  }
  const { deletedMs } = life;
  if (deletedMs === null) return actions;
  const remove = async () => {
    await api.request(`${kind.path}/${id}`, { method: "DELETE" });
    await api.db.begin((tx) => kind.erase(tx, id));
    await api.db`update usage_resources set deleted_at = ${new Date(deletedMs)} where resource_id = ${id}`;
    await backdate(id, deletedMs);
    // The store's own clock never goes back behind what it has counted.
    await api.db`delete from usage_days where resource_id = ${id} and day > ${new Date(deletedMs)}::date`;
  };
  const lastChange = actions.findLastIndex((action) => changes.has(action)) + 1;
  actions.splice(lastChange + Math.floor(random() * (actions.length - lastChange + 1)), 0, remove);
  return actions;
}

const changes = new Set<() => Promise<void>>();

async function usageOf(month: string): Promise<{ data: UsageResource[] }> {
  const response = await api.request(`/api/usage?month=${month}`);
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as { data: UsageResource[] };
}

function monthsBetween(fromMs: number, untilMs: number): string[] {
  const months = new Set<string>();
  for (let atMs = fromMs; atMs < untilMs + DAY_MS; atMs += DAY_MS) {
    months.add(new Date(Math.min(atMs, untilMs)).toISOString().slice(0, 7));
  }
  return [...months];
}

const ZERO: ExpectedDay = { awakeMs: 0, asleepMs: 0, uncertainMs: 0, awakeMibMs: 0, asleepMibMs: 0 };

/** Compares every day; the present one may have gone on between the two readings of the clock. */
async function compare(resources: Resource[], fromMs: number): Promise<void> {
  for (const month of monthsBetween(fromMs, Date.now())) {
    const beforeMs = Date.now();
    const { data } = await usageOf(month);
    const afterMs = Date.now();
    for (const { id, life, kind } of resources) {
      const usage = data.find((each) => each.id === id);
      const least = expectedDays(life, kind.mebibytes, beforeMs);
      const most = expectedDays(life, kind.mebibytes, afterMs);
      for (const name of new Set([...most.keys(), ...(usage?.attributes.days ?? []).map(({ day }) => day)])) {
        if (!name.startsWith(month)) continue;
        const day = usage?.attributes.days.find((each) => each.day === name);
        const [from, to] = [least.get(name) ?? ZERO, most.get(name) ?? ZERO];
        const about = `${id} ${name}`;
        expectWithin(about, day?.awake_ms, from.awakeMs, to.awakeMs);
        expectWithin(about, day?.asleep_ms, from.asleepMs, to.asleepMs);
        expectWithin(about, day?.uncertain_ms, from.uncertainMs, to.uncertainMs);
        expectWithin(about, day?.awake_mib_seconds, inSeconds(from.awakeMibMs), inSeconds(to.awakeMibMs));
        expectWithin(about, day?.saved_mib_seconds, inSeconds(from.asleepMibMs), inSeconds(to.asleepMibMs));
        if (kind.unit !== null) {
          expect(day?.compute_unit_seconds).toBe(Math.floor((day?.awake_mib_seconds ?? 0) / kind.unit));
        }
      }
    }
  }
}

function inSeconds(mibMs: number): number {
  return Math.floor(mibMs / 1_000);
}

function expectWithin(about: string, value: number | undefined, from: number, to: number): void {
  const isWithin = (value ?? 0) >= from && (value ?? 0) <= to;
  expect(isWithin ? about : `${about}: ${value} is not from ${from} to ${to}`).toBe(about);
}

test.each(SEEDS)(
  "usage is what the model of seed %p expects, to the millisecond",
  async (seed) => {
    await api.db`update usage_horizon set events_since = '-infinity'`;
    const random = randomOf(seed);
    const nowMs = Date.now() - 5_000;
    const fromMs = nowMs - DAYS * DAY_MS;
    const resources: Resource[] = [];
    const queues: (() => Promise<void>)[][] = [];
    for (let number = 0; number < RESOURCES; number++) {
      const kind = KINDS[number % KINDS.length] ?? KINDS[0];
      const life = planLife(random, fromMs, nowMs, kind.mebibytes.length);
      const resource = await create(kind, lasting(life, nowMs), seed * 100 + number);
      resources.push(resource);
      queues.push(actionsOf(resource, random));
    }
    for (let left = queues.filter(({ length }) => length > 0); left.length > 0;) {
      await left[Math.floor(random() * left.length)]?.shift()?.();
      // The usage is read and counted while half of the events are still on their way.
      if (random() < 0.05) await usageOf(new Date(nowMs).toISOString().slice(0, 7));
      if (random() < 0.05) await Promise.all([rollUp(api.db, { isDaily: true }), rollUp(api.db)]);
      left = queues.filter(({ length }) => length > 0);
    }
    await compare(resources, fromMs);
    const ids = api.db.array(
      resources.map(({ id }) => id),
      "text",
    );
    const made = await madeDays(ids);
    await api.db`delete from usage_days where resource_id = any(${ids})`;
    await api.db`insert into usage_marks (resource_id, at) select resource_id, created_at from usage_resources`;
    await rollUp(api.db);
    await compare(resources, fromMs);
    expect(await madeDays(ids)).toEqual(made);
    expect(await pruneEvents(api.db, 20, 1_000)).toBeGreaterThan(0);
    await api.db`insert into usage_marks (resource_id, at) select resource_id, created_at from usage_resources`;
    await rollUp(api.db);
    await compare(resources, fromMs);
    expect(await madeDays(ids)).toEqual(made);
  },
  240_000,
);

/** A state that lasts at the end of the plan goes on until the present. */
function lasting(life: PlannedLife, nowMs: number): PlannedLife {
  const intervals = life.intervals.map((each) =>
    life.deletedMs === null && each.untilMs >= nowMs ? { ...each, untilMs: Infinity } : each,
  );
  return { ...life, intervals };
}

/** The rows of all days but today's, which goes on. */
async function madeDays(ids: ReturnType<TestApi["db"]["array"]>): Promise<unknown[]> {
  return await api.db`
    select resource_id, day, awake_ms, awake_mib_ms, uncertain_ms, asleep_ms, asleep_mib_ms, is_complete, state
    from usage_days where resource_id = any(${ids}) and day < current_date and state is not null order by resource_id, day`;
}
