// The awake time of an instance, computed from its events.
import { expect, test } from "bun:test";
import { awakeTime, type LifeEvent } from "./awake-time.ts";

const at = (type: LifeEvent["type"], atMs: number, details: Record<string, unknown> = {}): LifeEvent => ({
  type,
  atMs,
  details,
});
const all = { fromMs: 0, untilMs: 10_000 };

test.each<[string, LifeEvent[], { fromMs: number; untilMs: number }, [number, number, boolean]]>([
  ["nothing", [], all, [0, 0, true]],
  ["a process that still runs", [at("created", 0), at("started", 4_000)], all, [6_000, 0, true]],
  [
    "a sleep",
    [at("started", 0), at("stopped", 1_000), at("asleep", 1_001), at("started", 5_000), at("awake", 4_990)],
    all,
    [6_000, 0, true],
  ],
  [
    "a crash",
    [at("started", 0), at("crashed", 100), at("restarted", 120), at("stopped", 1_000)],
    all,
    [980, 0, true],
  ],
  [
    "a part of the period",
    [at("started", 0), at("stopped", 5_000)],
    { fromMs: 1_000, untilMs: 3_000 },
    [2_000, 0, true],
  ],
  [
    "none of the period",
    [at("started", 0), at("stopped", 500)],
    { fromMs: 1_000, untilMs: 3_000 },
    [0, 0, true],
  ],
  [
    "an end that no host has seen",
    [
      at("started", 0),
      at("stopped", 3_000, { not_before: new Date(2_000).toISOString() }),
      at("started", 4_000),
    ],
    all,
    [8_000, 1_000, true],
  ],
  ["a gap", [at("started", 0), at("gap", 1_000), at("stopped", 2_000)], all, [2_000, 0, false]],
  [
    "an end without a beginning",
    [at("stopped", 2_000), at("started", 3_000), at("stopped", 4_000)],
    all,
    [1_000, 0, false],
  ],
])("counts %s", (_what, events, period, [ms, uncertainMs, isComplete]) => {
  expect(awakeTime(events, period)).toEqual({ ms, uncertainMs, isComplete });
});
