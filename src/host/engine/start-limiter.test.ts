// How many engines start at a time, and in which order.
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { StartLimiter } from "./start-limiter.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Runs all pending continuations. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

test("at most two engines start at a time, urgent starts first, each group in order of arrival", async () => {
  const starts = new StartLimiter(2);
  const begun: string[] = [];
  const leaves: (() => void)[] = [];
  const start = async (name: string, isUrgent: boolean) => {
    const leave = await starts.enter(isUrgent);
    begun.push(name);
    leaves.push(leave);
  };
  for (const name of ["a", "b", "c", "d"]) void start(name, false);
  for (const name of ["wake 1", "wake 2"]) void start(name, true);
  await settle();
  expect(begun).toEqual(["a", "b"]);
  for (let turn = 0; turn < 6; turn += 1) {
    leaves[turn]?.();
    // A second call must not free a second place.
    leaves[turn]?.();
    await settle();
  }
  expect(begun).toEqual(["a", "b", "wake 1", "wake 2", "c", "d"]);
});

test("a start that takes long does not hold up the others", async () => {
  const starts = new StartLimiter(1);
  await starts.enter(true);
  let hasBegun = false;
  void starts.enter(false).then(() => (hasBegun = true));
  await settle();
  expect(hasBegun).toBe(false);
  jest.advanceTimersByTime(2_000);
  await settle();
  expect(hasBegun).toBe(true);
});
