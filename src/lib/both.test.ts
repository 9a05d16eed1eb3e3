// Two tasks at the same time: nothing of them is under way when their results, or a failure, are reported.
import { expect, test } from "bun:test";
import { both } from "./both.ts";

test("gives both results", async () => {
  expect(await both(Promise.resolve(1), Promise.resolve("two"))).toEqual([1, "two"]);
});

test("reports a failure only after the other task has ended", async () => {
  const other = Promise.withResolvers<void>();
  let isReported = false;
  const reported = both(Promise.reject(new Error("the first failed")), other.promise).catch(
    (error: Error) => {
      isReported = true;
      return error.message;
    },
  );
  await Bun.sleep(0);
  expect(isReported).toBe(false);
  other.resolve();
  expect(await reported).toBe("the first failed");
});
