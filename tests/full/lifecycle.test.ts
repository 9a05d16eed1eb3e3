// The pure lifecycle of an instance under 100,000 schedules, which take every transition of the diagram.
import { expect, test } from "bun:test";
import { TRANSITIONS } from "../../src/host/lifecycle/state.ts";
import { playSchedule } from "../support/lifecycle-schedule.ts";

const SCHEDULES = 100_000;
/** They take seconds of a processor, which may be minutes on a busy machine. */
const TIMEOUT_MS = 600_000;

/** The model has no manifest that cannot be understood. */
const BEYOND_THE_MODEL = "absent foundUnusable unusable";

test(
  "no schedule loses a caller, a sleep or a desired state, and every transition is taken",
  () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= SCHEDULES; seed++) for (const each of playSchedule(seed)) seen.add(each);
    const drawn = Object.entries(TRANSITIONS).flatMap(([from, moves]) =>
      Object.entries(moves).map(([event, to]) => `${from} ${event} ${to}`),
    );
    expect(drawn.filter((each) => !seen.has(each) && each !== BEYOND_THE_MODEL)).toEqual([]);
  },
  TIMEOUT_MS,
);
