// The journal of a host comes into the events once, with the host's times, however often it is read.
import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { SQL } from "bun";
import type { JournalRecord } from "../../src/contracts/journal.ts";
import type { EventResource } from "../../src/resources/shared/event-schema.ts";
import { followJournal, takeRecords } from "../../src/resources/shared/events/intake.ts";
import { eraseRow } from "../../src/resources/shared/rows.ts";
import { createLog } from "../../src/lib/log.ts";
import { startApi, validCache, type TestApi } from "../support/api/api.ts";
import { until } from "../support/pilvi/pilvi.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const log = createLog("test", "silent");

let sequence = 0;
function record(
  id: string,
  type: JournalRecord["type"],
  details: JournalRecord["details"] = {},
): JournalRecord {
  sequence += 1;
  return {
    sequence,
    id,
    at: `2026-03-15T08:00:${String(sequence % 60).padStart(2, "0")}.000Z`,
    type,
    details,
  };
}

async function newCache(token?: string): Promise<string> {
  const response = await api.request("/api/caches", {
    json: validCache,
    ...(token !== undefined && { token }),
  });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

async function eventsOf(id: string, token?: string): Promise<EventResource[]> {
  const response = await api.request(
    `/api/events?filter[resource]=${id}`,
    token === undefined ? {} : { token },
  );
  return ((await response.json()) as { data: EventResource[] }).data;
}

test("a journal record becomes one event, with the host's time and without its private details", async () => {
  const id = await newCache();
  const wake = {
    reason: { user: "app", address: "127.0.0.1:5000" },
    spansMs: { accept: 1, auth: 2, start: 3, ready: 4, login: 5 },
  };
  const records = [
    record(id, "started", { pid: 77 }),
    record(id, "awake", { wake }),
    record("store", "started", { pid: 1 }),
  ];
  const taken = await Promise.all([1, 2, 3].map(() => takeRecords(api.db, "host-1", records, log)));
  expect(taken.toSorted()).toEqual([0, 0, 3]);
  const [, awake, started] = await eventsOf(id);
  expect([awake?.attributes.occurred_at, awake?.attributes.message]).toEqual([
    records[1]?.at.replace(".000Z", ".000000Z") ?? "",
    "The cache sessions was woken by app from 127.0.0.1:5000.",
  ]);
  expect(awake?.attributes.details.spans_ms).toEqual(wake.spansMs);
  expect(started?.attributes).toMatchObject({ type: "started", details: {} });
});

test("a journal record of a deleted resource belongs to its organization", async () => {
  const otherToken = await api.newToken(["*"], "others");
  const id = await newCache(otherToken);
  await api.db.begin((tx) => eraseRow(tx, "caches", id));
  await takeRecords(api.db, "host-1", [record(id, "stopped")], log);
  expect((await eventsOf(id, otherToken)).map(({ attributes }) => attributes.type)).toContain("stopped");
  expect(await eventsOf(id)).toEqual([]);
});

test("a record with texts that the store does not take is an event without them", async () => {
  const id = await newCache();
  const wake = {
    reason: { user: "a\0pp", application: "\ud83d", address: "" },
    spansMs: { accept: 1, auth: 2, start: 3, ready: 4, login: 5 },
  };
  const records = [record(id, "awake", { wake }), record(id, "failed", { reason: "half \ud83d and \0" })];
  expect(await takeRecords(api.db, "host-1", records, log)).toBe(2);
  const [, failed, awake] = await eventsOf(id);
  expect(failed?.attributes.details).toEqual({ reason: "half \ufffd and " });
  expect(awake?.attributes.details).toMatchObject({ user: "app", application: "\ufffd" });
});

test("a record that the store refuses is skipped with a warning, and keeps back no other", async () => {
  const [id, other] = [await newCache(), await newCache()];
  const started = record(id, "started");
  const poison = { ...record(id, "failed"), at: "no time" };
  const records = [started, poison, record(other, "started"), record(other, "asleep")];
  const warn = spyOn(log, "warn");
  expect(await takeRecords(api.db, "host-1", records, log)).toBe(3);
  expect(warn.mock.calls.map(([about]) => about)).toMatchObject([{ id, sequence: poison.sequence }]);
  warn.mockRestore();
  expect(await takeRecords(api.db, "host-1", records, log)).toBe(0);
  const types = (await eventsOf(other)).map(({ attributes }) => attributes.type);
  expect(types).toEqual(["created", "asleep", "started"]);
});

test("a failure of the store itself skips no record", async () => {
  const id = await newCache();
  const records = [record(id, "started")];
  const closed = new SQL({ ...api.db.options, max: 1 } as SQL.Options);
  await closed.close();
  const failing = takeRecords(closed, "host-1", records, log);
  expect(await failing.catch((error: unknown) => error)).toBeInstanceOf(Error);
  expect(await takeRecords(api.db, "host-1", records, log)).toBe(1);
});

test("the control plane continues after the last record, and tries again after a failure", async () => {
  const id = await newCache();
  const records = [record(id, "started"), record(id, "crashed"), record(id, "restarted")];
  const asked: number[] = [];
  let failures = 1;
  const journal = async (after: number, signal: AbortSignal) => {
    asked.push(after);
    if (failures-- > 0) throw new Error("the host is away");
    const fresh = records.filter((each) => each.sequence > after).slice(0, 2);
    if (fresh.length === 0) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return fresh;
  };
  const host = { id: "host-1", driver: { ...api.host.driver, journal } };
  const end = new AbortController();
  const following = followJournal({ db: api.db, host }, end.signal, log);
  await until("all has come in, and more is asked for", () => asked.length === 4);
  expect(await eventsOf(id)).toHaveLength(4);
  end.abort();
  await following;
  const [first = 0, ...later] = asked;
  expect(later).toEqual([first, records[1]?.sequence ?? 0, records[2]?.sequence ?? 0]);
});
