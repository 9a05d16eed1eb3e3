// Promises that are settled within a turn of the loop, or later.
import { expect, test } from "bun:test";
import { outlastsTurn } from "./turns.ts";

test("a promise that is settled already, well or not, does not outlast its turn", async () => {
  expect(await outlastsTurn(Promise.resolve())).toBe(false);
  expect(await outlastsTurn(Promise.reject(new Error("refused")))).toBe(false);
});

test("a promise that a later turn settles outlasts its turn", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(() => setImmediate(resolve));
  expect(await outlastsTurn(promise)).toBe(true);
});
