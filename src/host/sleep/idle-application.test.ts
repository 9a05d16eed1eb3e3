// An application is judged idle by what the edge knows at that moment, not by an earlier report.
import { expect, test } from "bun:test";
import { SleepCycle } from "./sleep-cycle.ts";
import type { SleepCycleParts } from "./sleep-cycle-parts.ts";

const SLEEP_AFTER_SECONDS = 60;

/** A sleep cycle of a running application. @param idleSeconds what the edge says now; it has said that it is idle before. */
function cycle(idleSeconds: number) {
  let [known, drains] = [SLEEP_AFTER_SECONDS + 1, 0];
  const spec = { kind: "application", sleepAfterSeconds: SLEEP_AFTER_SECONDS, exposure: { port: null } };
  const parts = {
    id: "worker",
    edge: {
      measureUse: async () => void (known = await Promise.resolve(idleSeconds)),
      idleSeconds: () => known,
      drain: () => Promise.resolve((drains += 1) < 0),
      isFree: () => Promise.resolve(true),
    },
    file: { manifest: { spec, state: "awake", sleep: { since: "" } } },
    runner: { runnable: { engine: {}, context: { spec } }, process: {} },
    lifecycle: { isLeaving: false, state: { name: "running", isApplied: true }, report: () => {} },
    gateway: { contact: Promise.resolve() },
    copies: { reasonToStayAwake: () => null },
    leaving: new AbortController().signal,
  };
  const sleep = new SleepCycle(parts as unknown as SleepCycleParts);
  return { sleep, drains: () => drains };
}

test("an application that had a request since the latest report is not put to sleep", async () => {
  const { sleep, drains } = cycle(0);
  await sleep.suspend(true);
  expect(drains()).toBe(0);
});

test("an application that is still idle is put to sleep", async () => {
  const { sleep, drains } = cycle(SLEEP_AFTER_SECONDS + 2);
  await sleep.suspend(true).catch(() => undefined);
  expect(drains()).toBe(1);
});
