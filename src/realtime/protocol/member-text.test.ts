// The text of a member of an object, however the object is written.
import { expect, test } from "bun:test";
import { randomOf } from "../test-support.ts";
import { memberText } from "./member-text.ts";

test.each([
  ["{}", undefined],
  ['{"other":{"data":1}}', undefined],
  ['{"data":1.10}', "1.10"],
  ['\n{ "data" :\t[1, "}],{"] , "b": 2 }', '[1, "}],{"]'],
  ['{"data":1,"data":2.0}', "2.0"],
  ['{"\\u0064ata":null}', "null"],
  ['{"\\"data":1,"dat":2,"datax":3}', undefined],
  ['{"a":"\\\\","data":"\\\\\\""}', '"\\\\\\""'],
  [`{"data":${"[".repeat(10_000)}${"]".repeat(10_000)}}`, "[".repeat(10_000) + "]".repeat(10_000)],
  [`{"data":${"[".repeat(10_001)}${"]".repeat(10_001)}}`, null],
])("of %s", (object, text) => {
  expect(memberText(object, "data")).toBe(text as string);
});

test("is the JSON of the member in any object", () => {
  const random = randomOf(1);
  const pick = <T>(all: T[]): T => all[Math.floor(random() * all.length)] as T;
  const value = (depth: number): unknown => {
    const kind = depth > 3 ? 0 : random();
    if (kind < 0.4)
      return pick<unknown>([null, true, -1.5e-7, 12, 'a\\"}{,:', "\\\\", "", "é\u2028😀", {}, []]);
    const values = Array.from({ length: 3 }, () => value(depth + 1));
    if (kind < 0.7) return values;
    return Object.fromEntries(values.map((each) => [pick(["data", "\\", 'x"y', "b", ""]), each]));
  };
  for (let i = 0; i < 1_000; i++) {
    const object = { a: value(0), data: value(0), z: value(0) };
    expect(memberText(JSON.stringify(object), "data")).toBe(JSON.stringify(object.data));
    const spaced = memberText(JSON.stringify(object, null, 2), "data");
    expect(JSON.stringify(JSON.parse(spaced ?? ""))).toBe(JSON.stringify(object.data));
  }
});
