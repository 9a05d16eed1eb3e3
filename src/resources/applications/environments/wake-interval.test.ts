// When the wake interval of an environment needs a run of its reconciler, and when that run wakes it.
import { expect, test } from "bun:test";
import type { Observation } from "../../../contracts/observation.ts";
import { nextWakeOf } from "./wake-interval.ts";

const NOON_MS = Date.parse("2026-03-15T12:00:00Z");
const EVERY_HOUR = { uses_hibernation: true, hibernation_wake_up_interval: 60 };

type Serving = Pick<Observation, "state" | "sleep">;

function asleepSince(since: string): Serving {
  return { state: "asleep", sleep: { state: "asleep", since, lastWake: null, wakes: 0 } };
}

const AWAKE: Serving = {
  state: "running",
  sleep: { state: "awake", since: "2026-03-15T01:00:00Z", lastWake: null, wakes: 0 },
};

test("an environment is woken once it has slept for its interval, and not before", () => {
  const serving = [asleepSince("2026-03-15T11:30:00.500Z")];
  const at = new Date("2026-03-15T12:30:00.500Z");
  expect(nextWakeOf(EVERY_HOUR, serving, NOON_MS)).toEqual({ at, isDue: false });
  expect(nextWakeOf(EVERY_HOUR, serving, at.getTime() - 1)).toEqual({ at, isDue: false });
  expect(nextWakeOf(EVERY_HOUR, serving, at.getTime())).toEqual({ at, isDue: true });
  expect(nextWakeOf(EVERY_HOUR, serving, at.getTime() + 1e9)).toEqual({ at, isDue: true });
});

test("the interval of replicas counts from the last that fell asleep", () => {
  const serving = [asleepSince("2026-03-15T10:00:00Z"), asleepSince("2026-03-15T11:00:01Z")];
  expect(nextWakeOf(EVERY_HOUR, serving, NOON_MS)).toMatchObject({ isDue: false });
  expect(nextWakeOf(EVERY_HOUR, serving, NOON_MS + 1_000)).toMatchObject({ isDue: true });
});

test("an environment that is awake, also in part, is looked at again after the interval", () => {
  const next = { at: new Date("2026-03-15T13:00:00Z"), isDue: false };
  expect(nextWakeOf(EVERY_HOUR, [AWAKE], NOON_MS)).toEqual(next);
  expect(nextWakeOf(EVERY_HOUR, [asleepSince("2026-03-15T01:00:00Z"), AWAKE], NOON_MS)).toEqual(next);
});

test("an environment without the setting, or that does not sleep, needs nothing", () => {
  const serving = [asleepSince("2026-03-15T01:00:00Z")];
  expect(nextWakeOf({ ...EVERY_HOUR, hibernation_wake_up_interval: null }, serving, NOON_MS)).toBeNull();
  expect(nextWakeOf({ ...EVERY_HOUR, uses_hibernation: false }, serving, NOON_MS)).toBeNull();
});
