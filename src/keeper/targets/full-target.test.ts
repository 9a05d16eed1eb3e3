// A target that takes no writes, such as a full or read-only disk: what it has is read all the same.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { Sealer } from "../envelope.ts";
import { BackupStore } from "../backups/backup-store.ts";
import {
  bytesOf,
  collect,
  facts,
  freshFolder,
  KEY,
  PART_BYTES,
  removeFolder,
  silentLog,
  streamOf,
} from "../test-support.ts";
import { TargetSet } from "./target-set.ts";
import { MemoryTarget } from "./test-target.ts";
import { Throttle } from "./throttle.ts";

const BYTES = bytesOf(PART_BYTES * 5);
const SEGMENT = "archives/database-2/log/000000010000000000000001";
const OTHER = "archives/database-3/archive.json";

const throttle = new Throttle(0);
let folder: string;
let target: MemoryTarget;
let stores: TargetSet[];

beforeEach(() => {
  folder = freshFolder();
  target = new MemoryTarget("/backups", false);
  stores = [];
});

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  removeFolder(folder);
});

function storeOver(over: MemoryTarget): TargetSet {
  const sealer = new Sealer(KEY);
  const store = new TargetSet([over], { notesDir: folder, sealer, throttle, log: silentLog });
  stores.push(store);
  return store;
}

test("a backup is read as a whole while writes fail", async () => {
  const store = storeOver(target);
  const backups = new BackupStore(store, throttle, PART_BYTES);
  await backups.write("database-1", "one", streamOf(BYTES));
  await backups.complete("database-1", "one", facts);
  target.failing = /\/log\//;
  async function* readWhileWritesFail() {
    for await (const part of await backups.read("database-1", "one")) {
      await store.put(SEGMENT, bytesOf(9)).catch(() => undefined);
      yield part;
    }
  }
  const read = await collect(readWhileWritesFail());
  expect(read.equals(Buffer.from(BYTES))).toBe(true);
  expect(store.lastError).toBe("it is refused");
  expect(store.targets[0]).toMatchObject({ isUsable: true });
});

test("deletions go on while writes fail, and make room", async () => {
  const store = storeOver(target);
  await store.put(SEGMENT, bytesOf(9));
  await store.put(OTHER, bytesOf(9));
  target.failing = /archive\.json/;
  await expect(store.put(OTHER, bytesOf(10))).rejects.toThrow("it is refused");
  await store.delete(SEGMENT);
  expect(target.objects.has(SEGMENT)).toBe(false);
  // In the folder of the write that failed they wait until the target is caught up.
  await store.delete(OTHER);
  await store.tend();
  expect(target.objects.has(OTHER)).toBe(false);
});

test("a target that cannot be read takes no write either", async () => {
  const store = storeOver(target);
  await store.put(OTHER, bytesOf(9));
  target.isAway = true;
  await expect(store.get(OTHER)).rejects.toThrow("it is away");
  expect(store.targets[0]).toMatchObject({ isUsable: false, takesWrites: false });
});

test("a read-only target is read although a killed keeper left unfinished files there", async () => {
  await storeOver(target).put(OTHER, bytesOf(9));
  const readOnly = Object.assign(target, {
    failing: /./,
    clear: async () => await Promise.reject(new Error("it is read-only")),
  });
  const store = storeOver(readOnly);
  expect(await store.get(OTHER)).toEqual(bytesOf(9));
  await expect(store.put(OTHER, bytesOf(10))).rejects.toThrow("it is read-only");
  expect(await store.get(OTHER)).toEqual(bytesOf(9));
});
