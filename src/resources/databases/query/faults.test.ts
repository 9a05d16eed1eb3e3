// What is kept of an engine's refusal.
import { expect, test } from "bun:test";
import { StatementRefused } from "./faults.ts";

test("a refusal has no characters that the store does not take, since the reason of a failed clone quotes it", () => {
  const said = `a\0${"x".repeat(100_000)}`;
  const { message } = new StatementRefused(said, {} as never);
  expect(message.startsWith("ax")).toBe(true);
  const { length } = message;
  expect(new StatementRefused(`${"x".repeat(length)}🙂`, {} as never).message.isWellFormed()).toBe(true);
});
