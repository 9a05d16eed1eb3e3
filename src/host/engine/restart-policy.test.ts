// How soon an engine is started again.
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { RestartPolicy } from "./restart-policy.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Milliseconds until the start that is due, in steps of 50. */
function waitedMs(starts: () => number): number {
  const before = starts();
  for (let waited = 0; waited <= 60_000; waited += 50) {
    if (starts() > before) return waited;
    jest.advanceTimersByTime(50);
  }
  throw new Error("it is never started");
}

function counted(): { restarts: RestartPolicy; starts: () => number } {
  let count = 0;
  const restarts = new RestartPolicy(() => (count += 1));
  return { restarts, starts: () => count };
}

test("at once after its first end, and later when it keeps ending, but not later than 5 s", () => {
  const { restarts, starts } = counted();
  const waits = Array.from({ length: 20 }, () => {
    restarts.afterCrash(10);
    return waitedMs(starts);
  });
  expect(waits[0]).toBeLessThanOrEqual(50);
  expect(waits.at(-1)).toBeGreaterThanOrEqual(2_500);
  expect(Math.max(...waits)).toBeLessThanOrEqual(5_050);
});

test("at once again when it has run for a time", () => {
  const { restarts, starts } = counted();
  for (let crash = 0; crash < 10; crash += 1) restarts.afterCrash(10);
  restarts.afterCrash(1_000);
  expect(waitedMs(starts)).toBeLessThanOrEqual(50);
});

test("later and later when it cannot start, up to half a minute", () => {
  const { restarts, starts } = counted();
  const waits = Array.from({ length: 12 }, () => {
    restarts.afterFailure();
    return waitedMs(starts);
  });
  expect(waits[0]).toBeLessThanOrEqual(150);
  expect(waits.at(-1)).toBeGreaterThanOrEqual(15_000);
  expect(Math.max(...waits)).toBeLessThanOrEqual(30_050);
});

test("a second after it failed when a client waits for it, and no sooner", async () => {
  const { restarts } = counted();
  for (let failure = 0; failure < 12; failure += 1) restarts.afterFailure();
  expect(await restarts.begin()).toBe(false);
  expect(await restarts.begin(true)).toBe(false);
  jest.advanceTimersByTime(1_000);
  expect(await restarts.begin()).toBe(false);
  expect(await restarts.begin(true)).toBe(true);
});

test("not at all when the start is forgotten", () => {
  const { restarts, starts } = counted();
  restarts.afterCrash(10);
  restarts.cancel();
  jest.advanceTimersByTime(60_000);
  expect(starts()).toBe(0);
});
