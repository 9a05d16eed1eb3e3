// What retention may delete of a log: what it has named twice, but for what a planned restore reads.
import { expect, test } from "bun:test";
import { HeldSegments } from "./held-segments.ts";
import { segmentName } from "./segment.ts";
import { SEGMENT_BYTES } from "./test-support.ts";

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, number) => segmentName({ timeline: 1, number }, SEGMENT_BYTES));
}

test("segments are released when they are named again, a while after the first time", () => {
  const held = new HeldSegments();
  const names = namesOf(3);
  expect(held.release(names, 0)).toEqual([]);
  expect(held.release(names.slice(1), 500)).toEqual([]);
  expect(held.release(names, 1_000)).toEqual(names.slice(1));
});

test("segments that a planned restore reads stay, and all after them", () => {
  const held = new HeldSegments();
  const names = namesOf(3);
  held.release(names, 0);
  held.hold("one", names[1], 0);
  expect(held.release(names, 1_000)).toEqual(names.slice(0, 1));
  expect(names.map((name) => held.keeps(name, 1_000))).toEqual([false, true, true]);
  expect(names.map((name) => held.keeps(name, 6 * 3_600_000))).toEqual([false, false, false]);
});

test("the segments of years are released without a comparison of each with all", () => {
  const held = new HeldSegments();
  const names = namesOf(100_000);
  held.release(names, 0);
  expect(held.release(names, 1_000)).toHaveLength(names.length);
}, 10_000);
