// What an instance took in a minute: one whose end came a little late, and one in which its engine was started again.
import { expect, test } from "bun:test";
import { InstanceMeter, type MeteredInstance } from "./instance-meter.ts";

const running: MeteredInstance = {
  id: "app-1",
  process: { pid: 1, wasFound: false },
  cpus: 1,
  wakes: 0,
  usage: () => null,
  ask: async () => null,
};

test("an instance is awake for a minute of a minute that ends late, and for the rest in the next", () => {
  const meter = new InstanceMeter();
  meter.see(running, 1_000);
  meter.see(running, 61_000.6);
  expect(meter.endMinute(4).awakeMs).toBe(60_000);
  meter.see(running, 61_500.6);
  expect(meter.endMinute(4).awakeMs).toBeCloseTo(500.6, 6);
});

/** The instance with a process and what its group counts. */
const counted = (pid: number, cpuMs: number, group: number): MeteredInstance => ({
  ...running,
  process: { pid, wasFound: false },
  usage: () => ({ cpuMs, memoryBytes: 0, group }),
});

test("a group counts on when its engine is started again after a crash, and a new group counts from zero", () => {
  const meter = new InstanceMeter();
  meter.sample(counted(1, 36_000_000, 7));
  expect(meter.endMinute(1).cpuMs).toBe(36_000_000);
  meter.sample(counted(2, 36_000_050, 7));
  meter.sample(counted(3, 36_000_070, 7));
  expect(meter.endMinute(2).cpuMs).toBe(70);
  meter.sample(counted(3, 30, 8));
  expect(meter.endMinute(1).cpuMs).toBe(30);
});
