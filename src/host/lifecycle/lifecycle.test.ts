// The pure lifecycle of an instance: single steps, and thousands of schedules of a world around it.
import { expect, test } from "bun:test";
import { playSchedule } from "../../../tests/support/lifecycle-schedule.ts";
import { newLifecycle, next, type Lifecycle, type LifecycleEvent } from "./lifecycle.ts";

const SCHEDULES = 2_000;

const NOW = { ms: 0, date: new Date(0), chance: 0.5 };

function after(events: LifecycleEvent[], ms = 0): { lifecycle: Lifecycle; effects: string[] } {
  const effects: string[] = [];
  let lifecycle = newLifecycle(new Date(0));
  for (const event of events) {
    const step = next(lifecycle, event, { ...NOW, ms });
    ({ lifecycle } = step);
    effects.splice(0, effects.length, ...step.effects.map((effect) => effect.do));
  }
  return { lifecycle, effects };
}

const RUNNING: LifecycleEvent[] = [{ type: "foundAwake" }, { type: "served", isApplied: true }];

test("a demand waits until the task before it has ended", () => {
  const asked = after([
    { type: "asked", demand: "ensure", ticket: 1 },
    { type: "asked", demand: "suspend", ticket: 2 },
  ]);
  expect(asked.effects).toEqual([]);
  expect(asked.lifecycle.queue.map(({ demand }) => demand)).toEqual(["suspend"]);
});

test("many wakes cause one start, and concurrent suspensions share one task", () => {
  const wake: LifecycleEvent = { type: "asked", demand: "wake" };
  const busy: LifecycleEvent = { type: "asked", demand: "ensure", ticket: 1 };
  expect(after([...RUNNING, busy, wake, wake, wake]).lifecycle.queue).toHaveLength(1);
  const suspends = [2, 3].map((ticket): LifecycleEvent => ({ type: "asked", demand: "suspend", ticket }));
  const { lifecycle } = after([...RUNNING, ...suspends]);
  expect(lifecycle).toMatchObject({ queue: [], task: { demand: "suspend", tickets: [2, 3] } });
});

test("an engine that crashes is started at once, and after a delay when it crashes again", () => {
  const { lifecycle, effects } = after([...RUNNING, { type: "exited" }]);
  expect(lifecycle).toMatchObject({ state: { name: "crashed" }, backOff: { failures: 1, dueAtMs: 0 } });
  expect(effects).toEqual(["setTimer"]);
  const again = after([
    ...RUNNING,
    { type: "exited" },
    { type: "launching" },
    ...RUNNING,
    { type: "exited" },
  ]);
  expect(again.lifecycle.backOff).toMatchObject({ failures: 2, dueAtMs: 150 });
});

test("a start that is due later is left to its timer, but a waiting client brings it forward to one second after the failure", () => {
  const failures = Array.from({ length: 12 }, (): LifecycleEvent => ({ type: "startFailed" }));
  const asked = (demand: "restart" | "wake", ms: number) => {
    const { lifecycle } = after([{ type: "foundAwake" }, ...failures]);
    return next(lifecycle, { type: "asked", demand }, { ...NOW, ms }).effects.map((effect) => effect.do);
  };
  expect(asked("restart", 1_000)).toEqual([]);
  expect(asked("wake", 400)).toEqual(["interrupt"]);
  expect(asked("wake", 1_000)).toEqual(["interrupt", "clearTimer", "start"]);
  expect(asked("restart", 30_000)).toEqual(["clearTimer", "start"]);
});

test("an instance that has fallen asleep has no failures behind it", () => {
  const failed: LifecycleEvent[] = [{ type: "foundAwake" }, { type: "startFailed" }, { type: "startFailed" }];
  const served: LifecycleEvent[] = [{ type: "launching" }, { type: "served", isApplied: true }];
  const slept: LifecycleEvent[] = [{ type: "drainBegun" }, { type: "sleepRecorded" }, { type: "suspended" }];
  expect(after([...failed, ...served]).lifecycle.backOff).toMatchObject({ failures: 2 });
  expect(after([...failed, ...served, ...slept]).lifecycle.backOff).toMatchObject({ failures: 0 });
});

test("after the host has let go, no task begins and no crashed engine is restarted", () => {
  const { lifecycle, effects } = after([...RUNNING, { type: "released" }, { type: "exited" }]);
  expect(lifecycle.state.name).toBe("running");
  expect(effects).toEqual([]);
  expect(after([...RUNNING, { type: "released" }, { type: "asked", demand: "wake" }]).effects).toEqual([
    "interrupt",
  ]);
});

test("an instance that was ended is started by an order to run, and by nothing else", () => {
  const found: LifecycleEvent[] = [{ type: "foundEnded" }, { type: "asked", demand: "resume", ticket: 1 }];
  expect(after(found).effects).toEqual(["answer", "stop"]);
  const rests: LifecycleEvent[] = [...found, { type: "taskEnded" }];
  expect(after([...rests, { type: "asked", demand: "wake" }]).effects).toEqual(["interrupt"]);
  expect(after([...rests, { type: "asked", demand: "ensure", ticket: 2 }]).effects).toEqual(["record"]);
  const ordered: LifecycleEvent[] = [
    { type: "asked", demand: "ensure", ticket: 2 },
    { type: "reordered" },
    { type: "recordEnded" },
  ];
  expect(after([...rests, ...ordered]).effects).toEqual(["clearTimer", "start"]);
});

test("no schedule loses a caller, a sleep or a desired state", () => {
  for (let seed = 1; seed <= SCHEDULES; seed++) playSchedule(seed);
});
