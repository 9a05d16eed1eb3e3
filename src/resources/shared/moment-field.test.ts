// Times in requests, and which of them the store has.
import { expect, test } from "bun:test";
import { inUtc, momentField } from "./moment-field.ts";

const field = momentField("2026-03-15T08:00:00Z");

test.each([
  ["2026-03-15T08:00:00Z", "2026-03-15T08:00:00.000000Z"],
  ["2026-03-15T08:00:00.123456789-11:30", "2026-03-15T19:30:00.123456Z"],
  ["2026-03-15T08:00:00.5+20:00", "2026-03-14T12:00:00.500000Z"],
  ["0000-12-31T23:59:59-05:00", "0001-01-01T04:59:59.000000Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"],
  ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"],
])("%s is %s in UTC", (asked, utc) => {
  expect(field.parse(asked)).toBe(asked);
  expect(inUtc(asked)).toBe(utc);
});

test.each([
  ["of the year 0", "0000-01-01T00:00:00Z"],
  ["of the year 0 in UTC alone", "0001-01-01T00:00:00+05:00"],
  ["before the year 0 in UTC", "0000-01-01T00:00:00+05:00"],
  ["after the year 9999 in UTC", "9999-12-31T23:59:59-20:00"],
  ["of any number of digits", `2026-03-15T08:00:00.${"1".repeat(100)}Z`],
  ["that is none", "tomorrow"],
])("a time %s is refused with an example", (_which, asked) => {
  const messages = new Set(field.safeParse(asked).error?.issues.map(({ message }) => message));
  expect([...messages]).toEqual(["must be a time such as 2026-03-15T08:00:00Z"]);
});
