// Tasks that run a few at a time, and end together when one fails.
import { expect, test } from "bun:test";
import { eachAtOnce } from "./each-at-once.ts";

const never = new AbortController().signal;

test("each item has its task, and no more run at once than allowed", async () => {
  const done: number[] = [];
  let [running, most] = [0, 0];
  await eachAtOnce([1, 2, 3, 4, 5], 2, never, async (item) => {
    most = Math.max(most, (running += 1));
    await Promise.resolve();
    running -= 1;
    done.push(item);
  });
  expect([done.sort(), most]).toEqual([[1, 2, 3, 4, 5], 2]);
});

test("a failure ends the others by their signal, and rejects when all have ended", async () => {
  const ended: number[] = [];
  const begun: number[] = [];
  const failing = eachAtOnce([1, 2, 3], 2, never, async (item, signal) => {
    begun.push(item);
    if (item === 2) throw new Error("broken");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    ended.push(item);
  });
  await expect(failing).rejects.toThrow("broken");
  expect([begun, ended]).toEqual([[1, 2], [1]]);
});

test("an aborted signal begins no task more, and is the error", async () => {
  const giveUp = new AbortController();
  const begun: number[] = [];
  const given = eachAtOnce([1, 2], 1, giveUp.signal, async (item) => {
    begun.push(item);
    giveUp.abort(new Error("given up"));
  });
  await expect(given).rejects.toThrow("given up");
  expect(begun).toEqual([1]);
});
