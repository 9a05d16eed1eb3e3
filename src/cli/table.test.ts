// Text in columns, and values that take several lines.
import { expect, test } from "bun:test";
import { filledLines, rowsOf, table } from "./table.ts";

test("words fill lines up to the given number of characters", () => {
  expect(filledLines(["one", "two", "three", "four"], 10, ", ")).toEqual(["one, two", "three", "four"]);
  expect(filledLines([], 10, ", ")).toEqual([]);
});

test("a word that is longer than a line has a line of its own", () => {
  expect(filledLines(["a", "bbbbbbbbbbbb", "c"], 5, ", ")).toEqual(["a", "bbbbbbbbbbbb", "c"]);
});

test("the first of several lines has the name", () => {
  expect(table([["Status", "available"], ...rowsOf("Config", ["a=1", "b=2"])])).toBe(
    "Status  available\nConfig  a=1\n        b=2\n",
  );
});
