// Values that come shortly after each other are passed on together.
import { expect, test } from "bun:test";
import { Gathering } from "./gathering.ts";

test("values of a while are passed on once, and later values after a while of their own", async () => {
  const passed: number[][] = [];
  let next = Promise.withResolvers<void>();
  const gathering = new Gathering<number>(5, (values) => {
    passed.push([...values]);
    next.resolve();
  });
  for (const value of [1, 2, 1]) gathering.add(value);
  expect([gathering.has(1), gathering.has(3), passed]).toEqual([true, false, []]);
  await next.promise;
  expect(gathering.has(1)).toBe(false);
  next = Promise.withResolvers();
  gathering.add(1);
  await next.promise;
  expect(passed).toEqual([[1, 2], [1]]);
});

test("values are dropped at the end", async () => {
  const passed: string[] = [];
  const next = Promise.withResolvers<void>();
  const gathering = new Gathering<string>(1, (values) => {
    passed.push(...values);
    next.resolve();
  });
  gathering.add("dropped");
  gathering.close();
  gathering.add("later");
  await next.promise;
  expect(passed).toEqual(["later"]);
});
