// Instants with microseconds as text, as places on a line of time, and after keys.
import { expect, test } from "bun:test";
import {
  DAY,
  HOUR,
  instantAfter,
  instantAt,
  instantIn,
  isoOf,
  microsOf,
  MINUTE,
  nearest,
  SECOND,
  shareOf,
  textOf,
  ticksOf,
  viewAround,
} from "./instants.ts";

const AT = microsOf("2026-03-15T08:18:53.204112Z");
const WHOLE = { from: AT - DAY, until: AT };

test.each([
  "2026-03-15T08:18:53.204112Z",
  "2026-03-15T08:18:53.000001Z",
  "2026-12-31T23:59:59.999999Z",
  "2026-01-01T00:00:00.000000Z",
])("%s keeps its microseconds as a number, as text and back", (iso) => {
  expect(isoOf(microsOf(iso))).toBe(iso);
  expect(instantIn(textOf(microsOf(iso)), AT)).toBe(microsOf(iso));
});

test("an instant with fewer digits is the same instant", () => {
  expect(microsOf("2026-03-15T08:18:53.2Z")).toBe(microsOf("2026-03-15T08:18:53.200000Z"));
  expect(microsOf("2026-03-15T08:18:53Z")).toBe(microsOf("2026-03-15T08:18:53.000000Z"));
});

test.each([
  ["now", 0],
  ["10 minutes ago", 10 * MINUTE],
  ["1 hour ago", HOUR],
  [" 30 seconds ago ", 30 * SECOND],
  ["2 days ago", 2 * DAY],
])("%s counts from now", (text, before) => {
  expect(instantIn(text, AT)).toBe(AT - before);
});

test.each([
  ["2026-03-15 10:18:53.204112+02:00", "2026-03-15T08:18:53.204112Z"],
  ["2026-03-15T08:18:53Z", "2026-03-15T08:18:53.000000Z"],
  ["2026-03-15 08:18 Z", "2026-03-15T08:18:00.000000Z"],
])("%s is read with its offset", (text, iso) => {
  expect(isoOf(instantIn(text, AT) ?? 0)).toBe(iso);
});

test.each(["", "yesterday", "10 weeks ago", "2026-03-15", "2026-13-45 08:00", "2026-03-15 08:18:53.1234567"])(
  "%p is no instant",
  (text) => expect(instantIn(text, AT)).toBeUndefined(),
);

test("a view lies around its instant, and never beyond the window", () => {
  const middle = AT - DAY / 2;
  expect(viewAround(WHOLE, middle, HOUR)).toEqual({ from: middle - HOUR / 2, until: middle + HOUR / 2 });
  expect(viewAround(WHOLE, AT, HOUR)).toEqual({ from: AT - HOUR, until: AT });
  expect(viewAround(WHOLE, WHOLE.from, HOUR)).toEqual({ from: WHOLE.from, until: WHOLE.from + HOUR });
  expect(viewAround(WHOLE, AT, 2 * DAY)).toEqual(WHOLE);
});

test("a place and its instant lead to each other, within a thousandth of the view", () => {
  for (const share of [0, 0.25, 0.5, 1]) {
    expect(Math.abs(shareOf(WHOLE, instantAt(WHOLE, share)) - share)).toBeLessThanOrEqual(0.001);
  }
  expect(instantAt(WHOLE, -1)).toBe(WHOLE.from);
  expect(instantAt(WHOLE, 2)).toBe(WHOLE.until);
  expect(shareOf({ from: AT, until: AT }, AT)).toBe(1);
});

test("arrow keys move by a second, with Shift by a minute, and stay in the window", () => {
  const middle = AT - DAY / 2;
  const after = (key: string, shiftKey = false, at = middle) => instantAfter({ key, shiftKey }, at, WHOLE);
  expect(after("ArrowLeft")).toBe(middle - SECOND);
  expect(after("ArrowRight", true)).toBe(middle + MINUTE);
  expect(after("PageDown")).toBe(middle - MINUTE);
  expect(after("Home")).toBe(WHOLE.from);
  expect(after("End")).toBe(WHOLE.until);
  expect(after("ArrowRight", false, AT)).toBe(AT);
  expect(after("x")).toBeUndefined();
});

test("ticks are round times within the view, and as many as there is room for", () => {
  for (const length of [10 * SECOND, 10 * MINUTE, HOUR, DAY, 30 * DAY]) {
    const view = { from: AT - length, until: AT };
    const ticks = ticksOf(view, 6);
    expect(ticks.length).toBeGreaterThan(0);
    expect(ticks.length).toBeLessThanOrEqual(7);
    for (const { at } of ticks) expect(nearest(view, at)).toBe(at);
  }
});
