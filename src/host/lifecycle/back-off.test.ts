// The delay before an engine is started again.
import { expect, test } from "bun:test";
import { afterCrash, afterFailure, delayOf, NO_FAILURE, type BackOff } from "./back-off.ts";

/** The delays after consecutive failures, in milliseconds, each with the smallest and the greatest chance. */
function waitsMs(count: number, fail: (before: BackOff, chance: number) => BackOff): [number, number][] {
  let backOff = NO_FAILURE;
  return Array.from({ length: count }, () => {
    const [shortest, longest] = [0, 0.999].map((chance) => fail(backOff, chance));
    backOff = shortest ?? backOff;
    return [shortest?.dueAtMs ?? -1, longest?.dueAtMs ?? -1];
  });
}

const due = (dueAtMs: number | null): BackOff => ({ failures: 12, failedAtMs: 0, dueAtMs });

const at = (chance: number, ms = 0) => ({ ms, date: new Date(0), chance });

test("an engine that keeps crashing is started at once first, then after growing delays of at most 5 s", () => {
  const waits = waitsMs(20, (before, chance) => afterCrash(before, 10, at(chance)));
  expect(waits[0]).toEqual([0, 0]);
  expect(waits.slice(1, 3)).toEqual([
    [100, 200],
    [200, 400],
  ]);
  expect(waits.at(-1)).toEqual([2_500, 4_998]);
});

test("an engine that crashes after a second of running is started at once again", () => {
  const crashed = afterCrash({ failures: 10, failedAtMs: 0, dueAtMs: null }, 1_000, at(0.5));
  expect(crashed).toMatchObject({ failures: 1, dueAtMs: 0 });
});

test("an engine that cannot start is tried after growing delays of at most 30 s", () => {
  const waits = waitsMs(12, (before, chance) => afterFailure(before, at(chance)));
  expect(waits[0]).toEqual([50, 100]);
  expect(waits.at(-1)).toEqual([15_000, 29_985]);
});

const crashSoon: typeof afterFailure = (before, now) => afterCrash(before, 10, now);

/** How many of four failures count as a row. */
function rowOf(fail: typeof afterFailure, pauseMs: number): number {
  return [1, 2, 3, 4].reduce((before, count) => fail(before, at(0, count * pauseMs)), NO_FAILURE).failures;
}

test("failures a day apart are no failures in a row, and failures that take ten minutes each are", () => {
  const [longestMs, dayMs] = [11 * 60_000, 86_400_000];
  expect([rowOf(afterFailure, dayMs), rowOf(crashSoon, dayMs)]).toEqual([1, 1]);
  expect([rowOf(afterFailure, longestMs), rowOf(crashSoon, longestMs)]).toEqual([4, 4]);
});

test("a start that is due soon is waited for, and a later start is left to its timer", () => {
  expect(delayOf(due(500), false, 0)).toBe(500);
  expect(delayOf(due(501), false, 0)).toBeNull();
  expect(delayOf(due(null), false, 0)).toBe(0);
  expect(delayOf(due(20_000), true, 499)).toBeNull();
  expect(delayOf(due(20_000), true, 1_000)).toBe(0);
});
