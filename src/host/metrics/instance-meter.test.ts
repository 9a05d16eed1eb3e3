// What an instance took in a minute whose end came a little late.
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
