// Cancel keys: each is valid for one session of one instance.
import { expect, test } from "bun:test";
import { CancelKeys } from "./cancel-keys.ts";

const engine = { pid: 4711, key: Buffer.from("abcd") };

test("a cancel key finds its session until it is dropped", () => {
  const keys = new CancelKeys();
  const key = keys.mint("db-1", engine, 4);
  expect(key.pid).toBeGreaterThan(0);
  expect(key.key).toHaveLength(4);
  expect(keys.find("db-1", key)).toEqual(engine);
  keys.drop(key);
  expect(keys.find("db-1", key)).toBeNull();
  expect(keys.size).toBe(0);
});

test("a cancel key is refused at another instance, and when it is not exact", () => {
  const keys = new CancelKeys();
  const { pid, key } = keys.mint("db-1", engine, 32);
  expect(keys.find("db-2", { pid, key })).toBeNull();
  expect(keys.find("db-1", { pid: pid ^ 1, key })).toBeNull();
  expect(keys.find("db-1", { pid, key: key.subarray(0, 31) })).toBeNull();
  expect(keys.find("db-1", { pid, key: Buffer.concat([key, Buffer.of(0)]) })).toBeNull();
  const other = Buffer.from(key);
  other[31] = (other[31] ?? 0) ^ 1;
  expect(keys.find("db-1", { pid, key: other })).toBeNull();
});

test("the cancel keys of all sessions have different process ids", () => {
  const keys = new CancelKeys();
  const pids = Array.from({ length: 1000 }, () => keys.mint("db-1", engine, 4).pid);
  expect(new Set(pids).size).toBe(1000);
});
