// The bounds of the JSON in a body.
import { expect, test } from "bun:test";
import { ApiError } from "../jsonapi/errors.ts";
import { refuseUnwieldy } from "./json-shape.ts";

/** The refusal of a text; null when it is not refused. */
function refusalOf(json: string): unknown {
  try {
    refuseUnwieldy(Buffer.from(json));
    return null;
  } catch (error) {
    return error instanceof ApiError ? [error.status, error.errors] : error;
  }
}

/** An object with arrays in arrays, of so many levels in all. */
const nested = (levels: number) => `{"deep":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

const TOO_DEEP = [422, { body: ["The body must have 64 levels at most."] }];
const TOO_MANY = [422, { body: ["The body must have 10000 values at most."] }];

test("64 levels are taken, and any number of them beside each other", () => {
  expect(refusalOf(nested(64))).toBeNull();
  expect(refusalOf(`{"all":[${Array(100).fill(nested(62)).join(",")}]}`)).toBeNull();
});

test.each([
  ["in an array", nested(65)],
  ["in an object", `{"deep":${'{"a":'.repeat(64)}1${"}".repeat(64)}}`],
  ["behind many members", `{"wide":[${"1,".repeat(4_000)}1],"deep":${nested(65)}}`],
])("a level more %s is refused", (_where, json) => {
  expect(refusalOf(json)).toEqual(TOO_DEEP);
});

test.each([
  ["texts", '""'],
  ["objects", "{}"],
  ["members", '{"a":1}'],
])("10,000 values are taken, and more %s are refused", (_what, value) => {
  expect(refusalOf(`{"many":[${Array(4_000).fill("1").join(",")}]}`)).toBeNull();
  expect(refusalOf(`{"many":[${Array(10_000).fill(value).join(",")}]}`)).toEqual(TOO_MANY);
});

test("commas and brackets within texts count for nothing, whatever is escaped there", () => {
  const text = JSON.stringify({ text: `${"[{,".repeat(50_000)}\\"`, "a\\": '"[' });
  expect(refusalOf(text)).toBeNull();
  expect(refusalOf(`{"cut":"${"\\"}`)).toBeNull();
});
