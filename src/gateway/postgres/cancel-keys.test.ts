// Cancel keys: each is valid for one session of one instance.
import { expect, test } from "bun:test";
import { CancelKeys } from "./cancel-keys.ts";

const engine = { pid: 4711, key: Buffer.from("abcd") };

test("a cancel key finds its session until it is dropped", () => {
  const keys = new CancelKeys();
  const key = keys.mint("db-1", engine, 4);
  expect(key.pid).toBe(engine.pid);
  expect(key.key).toHaveLength(4);
  expect(keys.find("db-1", key)).toEqual(engine);
  keys.drop("db-1", key);
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

test("sessions of two instances may have the same process id, and their keys differ", () => {
  const keys = new CancelKeys();
  const [one, other] = [
    keys.mint("db-1", engine, 4),
    keys.mint("db-2", { ...engine, key: Buffer.from("efgh") }, 4),
  ];
  expect(other.pid).toBe(one.pid);
  expect(keys.find("db-1", other)).toBeNull();
  keys.drop("db-1", one);
  expect(keys.find("db-2", other)?.key).toEqual(Buffer.from("efgh"));
});

test("a session that went on at another process keeps its process id, which no other session gets", () => {
  const keys = new CancelKeys();
  const key = keys.mint("db-1", engine, 4);
  keys.renew("db-1", key, { pid: 5000, key: Buffer.from("efgh") });
  expect(keys.find("db-1", key)?.pid).toBe(5000);
  expect(keys.mint("db-1", engine, 4).pid).not.toBe(engine.pid);
});

test("the cancel keys of all sessions have different process ids", () => {
  const keys = new CancelKeys();
  const pids = Array.from({ length: 1000 }, () => keys.mint("db-1", engine, 4).pid);
  expect(new Set(pids).size).toBe(1000);
});
