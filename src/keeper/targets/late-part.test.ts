// An upload of a part that outlives its copy: the copy that is begun anew has parts of the same names.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { BackupStore } from "../backups/backup-store.ts";
import { Sealer } from "../envelope.ts";
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
import { LateTarget } from "./late-target.ts";
import { TargetSet } from "./target-set.ts";
import { MemoryTarget } from "./test-target.ts";
import { Throttle } from "./throttle.ts";

const PART = /parts\/000001$/;
const [FORMER, BYTES] = [bytesOf(PART_BYTES * 3, 1), bytesOf(PART_BYTES * 3, 2)] as [Uint8Array, Uint8Array];

let folder: string;
let near: MemoryTarget;
let bucket: MemoryTarget;
let store: TargetSet;
const throttle = new Throttle(0);

beforeEach(() => {
  folder = freshFolder();
  bucket = new MemoryTarget("bucket", true);
  near = new MemoryTarget("near", false);
  store = storeOver([near, new LateTarget(bucket)]);
});

afterEach(async () => {
  await store.close();
  removeFolder(folder);
});

function storeOver(targets: (MemoryTarget | LateTarget)[]): TargetSet {
  const options = { notesDir: join(folder, "notes"), sealer: new Sealer(KEY), throttle, log: silentLog };
  return new TargetSet(targets, options);
}

async function* interrupted(): AsyncGenerator<Uint8Array> {
  yield* streamOf(FORMER);
  throw new Error("a wake ended the copy");
}

/** Interrupts a copy while the bucket takes a part of it, which arrives when the later copy has all its parts. */
async function interruptCopy(backups: BackupStore): Promise<void> {
  await store.tend();
  const release = bucket.hold(PART);
  await expect(backups.write("database-1", "one", interrupted())).rejects.toThrow("a wake ended the copy");
  let hasBegun = false;
  near.onChange = () => {
    const names = [...near.objects.keys()].filter((name) => name.includes("/parts/"));
    hasBegun ||= names.length === 0;
    if (hasBegun && names.length === 3) release();
  };
}

async function expectRight(): Promise<void> {
  await until("the bucket is caught up", async () => {
    await store.tend();
    return bucket.objects.has("archives/database-1/backups/one/backup.json");
  });
  const alone = storeOver([bucket]);
  const read = await collect(await new BackupStore(alone, throttle, PART_BYTES).read("database-1", "one"));
  expect(read.equals(Buffer.from(BYTES))).toBe(true);
  await alone.close();
}

test("a part that arrives when the bucket is left alone is not taken for one of the later copy", async () => {
  const backups = new BackupStore(store, throttle, PART_BYTES);
  await interruptCopy(backups);
  bucket.failing = /database-2/;
  await store.put("archives/database-2/archive.json", bytesOf(5));
  await until("the bucket is left alone", () => store.targets[1]?.takesWrites === false);
  bucket.failing = null;
  await backups.write("database-1", "one", streamOf(BYTES));
  await backups.complete("database-1", "one", facts);
  await expectRight();
});

test("a part that arrives while the later copy is stored is not taken for one of that", async () => {
  const backups = new BackupStore(store, throttle, PART_BYTES);
  await interruptCopy(backups);
  await backups.write("database-1", "one", streamOf(BYTES));
  await backups.complete("database-1", "one", facts);
  await expectRight();
});
