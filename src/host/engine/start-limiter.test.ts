// How many engines start at a time, and in which order.
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { StartLimiter } from "./start-limiter.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Lets everything that can go on go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

test("as many as there may be, those that somebody waits for first, each in the order they came", async () => {
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
    // A place is given back once only.
    leaves[turn]?.();
    await settle();
  }
  expect(begun).toEqual(["a", "b", "wake 1", "wake 2", "c", "d"]);
});

test("one that takes long does not keep the others", async () => {
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
