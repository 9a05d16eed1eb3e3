// Timers, compared with a plain list as their model.
import { expect, test } from "bun:test";
import { type Timer, Timers } from "./timers.ts";

/** Pseudo-random numbers from 0 up to but without `below`, the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("without timers the wait has no end", () => {
  expect(new Timers(() => 0).untilNextMs()).toBe(-1);
});

test.each([1, 2, 3, 4, 5])("timers run once and in order, unless they are cancelled (seed %d)", (seed) => {
  const random = randomOf(seed);
  let nowMs = 0;
  const timers = new Timers(() => nowMs);
  const waiting = new Map<number, { atMs: number; timer: Timer }>();
  const ran: number[] = [];
  for (let step = 0; step < 5_000; step++) {
    const kind = random(10);
    if (kind < 6) {
      const delayMs = random(1_000);
      waiting.set(step, { atMs: nowMs + delayMs, timer: timers.after(delayMs, () => ran.push(step)) });
    } else if (kind < 9) {
      const id = [...waiting.keys()][random(waiting.size)];
      if (id === undefined) continue;
      waiting.get(id)?.timer.cancel();
      waiting.get(id)?.timer.cancel();
      waiting.delete(id);
    } else {
      const nextMs = Math.min(...[...waiting.values()].map(({ atMs }) => atMs));
      expect(timers.untilNextMs()).toBe(waiting.size === 0 ? -1 : Math.max(0, nextMs - nowMs));
      nowMs += random(100);
      const due = [...waiting].filter(([, { atMs }]) => atMs <= nowMs);
      timers.run();
      const times = ran.map((id) => waiting.get(id)?.atMs);
      expect(times).toEqual(due.map(([, { atMs }]) => atMs).sort((a, b) => a - b));
      for (const id of ran.splice(0)) waiting.delete(id);
    }
  }
  nowMs += 1_000;
  timers.run();
  expect(ran.sort((a, b) => a - b)).toEqual([...waiting.keys()]);
});

test("cancelled timers are removed while other timers wait", () => {
  let nowMs = 0;
  const timers = new Timers(() => nowMs);
  let runs = 0;
  const kept = Array.from({ length: 500 }, (_, index) => timers.after(2_000 - index, () => (runs += 1)));
  const cancelled = Array.from({ length: 50_000 }, () => timers.after(1_000, () => (runs += 1_000)));
  for (const timer of cancelled) timer.cancel();
  expect(timers.size).toBeLessThan(4_000);
  nowMs = 3_000;
  timers.run();
  for (const timer of kept) timer.cancel();
  expect([runs, timers.size, timers.untilNextMs()]).toEqual([500, 0, -1]);
});

test("a timer that throws is not run again, and the timers after it run", () => {
  const timers = new Timers(() => 0);
  const ran: string[] = [];
  timers.after(0, () => {
    throw new Error("thrown by a timer");
  });
  timers.after(0, () => ran.push("next"));
  expect(() => timers.run()).toThrow("thrown by a timer");
  timers.run();
  expect(ran).toEqual(["next"]);
});

test("a wait is never longer than epoll_wait accepts", () => {
  const timers = new Timers(() => 0);
  timers.after(1e12, () => {});
  expect(timers.untilNextMs()).toBe(2 ** 31 - 1);
});

test("a running timer may cancel a due timer and start new timers", () => {
  let nowMs = 0;
  const timers = new Timers(() => nowMs);
  const ran: string[] = [];
  timers.after(1, () => {
    ran.push("first");
    second.cancel();
    timers.after(0, () => ran.push("third"));
  });
  const second = timers.after(2, () => ran.push("second"));
  nowMs = 5;
  timers.run();
  expect(ran).toEqual(["first", "third"]);
});
