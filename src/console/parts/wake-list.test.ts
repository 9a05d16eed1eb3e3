// Times awake out of events, and lengths of time in words.
import { expect, test } from "bun:test";
import type { EventResource } from "../../sdk/index.ts";
import { awakesOf, durationText } from "./wake-list.ts";

let count = 0;

function event(type: "awake" | "asleep" | "started", minute: number, details = {}): EventResource {
  count += 1;
  return {
    id: String(count),
    type: "events",
    attributes: {
      type,
      occurred_at: `2026-03-15T08:${String(minute).padStart(2, "0")}:00.000000Z`,
      message: "",
      resource_name: "orders",
      details,
    },
    relationships: { resource: { data: { type: "databases", id: "db-1" } } },
    meta: { request_id: null },
  };
}

const at = (minute: number) => event("started", minute).attributes.occurred_at;

test("each wake has its client, its spans and the sleep that ended it", () => {
  const details = {
    user: "app",
    application: "psql",
    database: "main",
    address: "10.0.0.7:51324",
    // The store keeps no order of members.
    spans_ms: { start: 80, accept: 1.5 },
  };
  const events = [
    event("awake", 30, { user: "app", address: "10.0.0.8:1" }),
    event("started", 30),
    event("asleep", 20),
    event("awake", 10, details),
    event("asleep", 5),
  ];
  expect(awakesOf(events)).toMatchObject([
    { from: at(30), until: null, isNow: true, wokenBy: "app from 10.0.0.8:1", spans: [] },
    {
      from: at(10),
      until: at(20),
      isNow: false,
      wokenBy: "psql as app from 10.0.0.7:51324, database main",
      spans: [
        { name: "accept", ms: 1.5 },
        { name: "start", ms: 80 },
      ],
    },
    { from: null, until: at(5), isNow: false },
  ]);
});

test("an instance that sleeps has no time awake now, and a missing sleep is not made up", () => {
  const events = [event("asleep", 40), event("awake", 30), event("awake", 10)];
  expect(awakesOf(events)).toMatchObject([
    { from: at(30), until: at(40), isNow: false },
    { from: at(10), until: null, isNow: false },
  ]);
  expect(awakesOf([])).toEqual([]);
});

test.each([
  [400, "less than a second"],
  [1_900, "1 second"],
  [61_000, "1 minute 1 second"],
  [3_600_000, "1 hour"],
  [90_061_000, "1 day 1 hour"],
])("%i ms are %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
