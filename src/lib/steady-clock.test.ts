// When the clock of a machine may be relied on.
import { expect, test } from "bun:test";
import { SteadyClock } from "./steady-clock.ts";

const MINUTE_MS = 60_000;

function clocks() {
  const now = { wallMs: Date.parse("2026-03-15T12:00:00Z"), monotonicMs: 5_000 };
  const clock = new SteadyClock({ wall: () => now.wallMs, monotonic: () => now.monotonicMs });
  const pass = (minutes: number, setByMs = 0) => {
    now.monotonicMs += minutes * MINUTE_MS;
    now.wallMs += minutes * MINUTE_MS + setByMs;
  };
  return { clock, pass };
}

test("a clock is steady some minutes after the start, and not before", () => {
  const { clock, pass } = clocks();
  expect(clock.isSteady()).toBe(false);
  pass(5);
  expect(clock.isSteady()).toBe(false);
  pass(5);
  expect(clock.isSteady()).toBe(true);
});

test.each([365 * 24 * 60, -365 * 24 * 60])(
  "a clock that was set by %d minutes is not steady for a while",
  (by) => {
    const { clock, pass } = clocks();
    pass(10, by * MINUTE_MS);
    expect(clock.isSteady()).toBe(false);
    pass(10);
    expect(clock.isSteady()).toBe(true);
  },
);

test("a clock that the network corrects by some seconds stays steady", () => {
  const { clock, pass } = clocks();
  pass(10, 2_000);
  expect(clock.isSteady()).toBe(true);
  pass(1, -2_000);
  expect(clock.isSteady()).toBe(true);
});
