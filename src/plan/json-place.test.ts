// The place of a fault is where a person would look.
import { describe, expect, test } from "bun:test";
import { jsonFaultAt } from "./json-place.ts";

describe("the place of a fault in JSON", () => {
  test.each([
    ["", 1, 1],
    ["{", 1, 2],
    ['{"a": 1,}', 1, 9],
    ["[1, 2", 1, 6],
    ["[1 2]", 1, 4],
    ["{\n  a: 1\n}", 2, 3],
    ['{"a" 1}', 1, 6],
    ['{"a": "b\n"}', 1, 7],
    ["{} {}", 1, 4],
    ["[01]", 1, 2],
    ["nul", 1, 1],
    ["// c\n{}", 1, 1],
  ])("%j is found at line %d, column %d", (text, line, column) => {
    expect(jsonFaultAt(text)).toEqual({ line, column });
    expect(() => JSON.parse(text)).toThrow();
  });

  test.each(["{}", "[]", ' { "a": [1, -2.5e3, "\\u00e9", true, null], "b": {} } ', '"x"', "0"])(
    "%j has none",
    (text) => {
      expect(jsonFaultAt(text)).toBeUndefined();
      JSON.parse(text);
    },
  );

  test("comments and commas at the end are no faults where they are allowed", () => {
    expect(jsonFaultAt('{ // a\n "b": [1, /* c */ 2,],\n}', true)).toBeUndefined();
  });

  test("a million open lists do not end the search", () => {
    expect(jsonFaultAt("[".repeat(1_000_000))).toEqual({ line: 1, column: 1_000_001 });
  });
});
