// Numbers of identities: taken as the text that their signer wrote, since a number may not hold all digits.
import { expect, test } from "bun:test";
import { memberOf, type MemberIdentity } from "./members.ts";

const LONG = "1234567890123456789";

test.each([
  ["1234567890123456789", "1234567890123456789"],
  ["1234567890123456790", "1234567890123456790"],
  ["-9007199254740993", "-9007199254740993"],
  ["9007199254740991", "9007199254740991"],
  ["9".repeat(128), "9".repeat(128)],
  ["10", "10"],
  ["1.50", "1.5"],
  ["1e3", "1000"],
  ["1e20", "100000000000000000000"],
])("the number %s is the id %s", (number, userId) => {
  expect(memberOf(`{"user_id":${number}}`, null)).toEqual({ userId, userInfo: undefined });
});

test.each(["9".repeat(129), "1e999", `1${"0".repeat(400)}`])("the number %s is no id", (number) => {
  expect(memberOf(`{"user_id":${number}}`, null)).toBeString();
});

test("the id of the object counts, and its information stays as it is", () => {
  const text = `{"user_info":{"user_id":${LONG},"text":"1"},"user_id":${LONG}}`;
  const { userId, userInfo } = memberOf(text, null) as MemberIdentity;
  expect([userId, JSON.stringify(userInfo)]).toEqual([LONG, `{"user_id":${LONG},"text":"1"}`]);
});

test.each([
  `{"a":[${LONG},1.10]}`,
  "1e999",
  "-0",
  "1.0",
  "1e3",
  "0.10000000000000000000",
  '"1.10"',
  "null",
  "[7]",
])("the information %s is written with the digits of its signer", (info) => {
  const { userInfo } = memberOf(`{ "user_id": "7", "user_info": ${info} }`, null) as MemberIdentity;
  expect(JSON.stringify(userInfo)).toBe(info);
});

test.each([`1.${"0".repeat(1_023)}`, `${"[".repeat(200_000)}1.10${"]".repeat(200_000)}`])(
  "information that is too long as its signer wrote it is refused",
  (info) => {
    expect(memberOf(`{"user_id":"7","user_info":${info}}`, null)).toBeString();
    expect(memberOf(`{"user_id":"7","user_info":1.${"0".repeat(1_022)}}`, null)).toBeObject();
  },
);

test("of two ids the last counts, as for any reader of JSON", () => {
  expect(memberOf(`{"user_id":7,"user_id":${LONG}}`, null)).toMatchObject({ userId: LONG });
  expect(memberOf(`{"user_id":${LONG},"user_id":7}`, null)).toMatchObject({ userId: "7" });
});
