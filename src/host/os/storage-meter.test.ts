// The storage meter, with sizes that the test sets.
import { expect, test } from "bun:test";
import { StorageMeter, type MeasuredInstance } from "./storage-meter.ts";

function meterOf(instances: MeasuredInstance[], sizes: Record<string, number>) {
  const asked: string[] = [];
  const meter = new StorageMeter(
    () => instances,
    async (id) => {
      asked.push(id);
      return sizes[id] ?? 0;
    },
  );
  return { meter, asked };
}

test("a reading has all sizes first, and then only changed sizes", async () => {
  const sizes: Record<string, number> = { a: 1, b: 2 };
  const { meter } = meterOf(
    [
      { id: "a", asleepSinceMs: null },
      { id: "b", asleepSinceMs: null },
    ],
    sizes,
  );
  await meter.measureAll();
  const first = meter.readingAfter(undefined);
  expect(first.bytes).toEqual({ a: 1, b: 2 });
  expect(meter.readingAfter(first.cursor).bytes).toEqual({});
  sizes["b"] = 3;
  await meter.measureAll();
  const second = meter.readingAfter(first.cursor);
  expect(second.bytes).toEqual({ b: 3 });
  expect(meter.readingAfter("another-process 7").bytes).toEqual({ a: 1, b: 3 });
});

test("a sleeping instance is measured once, and again after another sleep", async () => {
  const instance: MeasuredInstance = { id: "a", asleepSinceMs: 8 };
  const { meter, asked } = meterOf([instance], { a: 1 });
  await meter.measureAll();
  await meter.measureAll();
  expect(asked).toEqual(["a"]);
  instance.asleepSinceMs = 9;
  await meter.measureAll();
  expect(asked).toEqual(["a", "a"]);
});

test("a removed instance is dropped from the reading", async () => {
  const instances: MeasuredInstance[] = [{ id: "a", asleepSinceMs: null }];
  const { meter } = meterOf(instances, { a: 1 });
  await meter.measureAll();
  instances.pop();
  await meter.measureAll();
  expect(meter.readingAfter(undefined).bytes).toEqual({});
});

test("a stopped meter ends its round", async () => {
  const { meter, asked } = meterOf(
    [
      { id: "a", asleepSinceMs: null },
      { id: "b", asleepSinceMs: null },
    ],
    {},
  );
  meter.stop();
  await meter.run();
  expect(asked).toEqual([]);
});
