// How the wait for a promise ends.
import { expect, test } from "bun:test";
import { unlessAborted } from "./unless-aborted.ts";

test("the result or the failure of a promise is passed on", async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve("done"), signal)).toBe("done");
  await expect(unlessAborted(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
});

test("an abort ends the wait with its reason, before it and during it", async () => {
  const ending = new AbortController();
  const { promise, reject } = Promise.withResolvers<string>();
  const waiting = unlessAborted(promise, ending.signal);
  ending.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
  await expect(unlessAborted(Promise.resolve("done"), ending.signal)).rejects.toThrow("given up");
  reject(new Error("failed when nobody waited"));
});
