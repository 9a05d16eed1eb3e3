// The bounds of a JSON body.
import { expect, test } from "bun:test";
import { ApiError } from "../jsonapi/errors.ts";
import { readJsonObject } from "./request-body.ts";

const read = (body: string) => readJsonObject(new Request("http://localhost", { method: "POST", body }));

/** An object with arrays in arrays, of so many levels in all. */
const nested = (levels: number) => `{"deep":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

test("a body of 64 levels is read", async () => {
  expect(JSON.stringify(await read(nested(64)))).toBe(nested(64));
});

test.each([
  ["in an array", nested(65)],
  ["in an object", `{"deep":${'{"a":'.repeat(64)}1${"}".repeat(64)}}`],
  ["behind many members", `{"wide":[${"1,".repeat(400_000)}1],"deep":${nested(65)}}`],
])("a level more %s is refused", async (_where, body) => {
  const refusal = await read(body).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal).toMatchObject({ status: 422, errors: { body: ["The body must have 64 levels at most."] } });
});
