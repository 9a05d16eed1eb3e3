// The timers of the runtime, as the gateway uses them.
import { expect, test } from "bun:test";
import { RuntimeTimers } from "./timers.ts";

const fail = (error: unknown): never => {
  throw error;
};

test("actions run in the order of their times, and a cancelled action does not run", async () => {
  const timers = new RuntimeTimers(fail);
  const ran: string[] = [];
  const startedAtMs = timers.now();
  const cancelled = timers.after(5, () => ran.push("cancelled"));
  await new Promise<void>((resolve) => {
    timers.after(20, () => {
      ran.push("late");
      resolve();
    });
    timers.after(1, () => ran.push("early"));
    cancelled.cancel();
    cancelled.cancel();
  });
  expect(ran).toEqual(["early", "late"]);
  expect(timers.now() - startedAtMs).toBeGreaterThan(15);
});

test("the error of an action is reported, and later actions run", async () => {
  const faults: unknown[] = [];
  const timers = new RuntimeTimers((error) => faults.push(error));
  await new Promise<void>((resolve) => {
    timers.after(0, () => fail(new Error("a fault")));
    timers.after(5, resolve);
  });
  expect(faults).toEqual([expect.objectContaining({ message: "a fault" })]);
});

test("a delay beyond the longest of the runtime does not run at once", async () => {
  const timers = new RuntimeTimers(fail);
  let isRun = false;
  const timer = timers.after(2 ** 40, () => (isRun = true));
  await new Promise<void>((resolve) => timers.after(20, resolve));
  expect(isRun).toBe(false);
  timer.cancel();
});
