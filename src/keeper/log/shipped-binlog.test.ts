// The log of a MariaDB in a bucket that gets what changes every second only now and then: what the engine may delete is
// in the bucket itself.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Sealer } from "../envelope.ts";
import { bytesOf, freshFolder, KEY, removeFolder, silentLog } from "../test-support.ts";
import { LateTarget } from "../targets/late-target.ts";
import { TargetSet } from "../targets/target-set.ts";
import { MemoryTarget } from "../targets/test-target.ts";
import { Throttle } from "../targets/throttle.ts";
import { binlogName, nameAt, placeOf } from "./binlog-chain.ts";
import { gapsOf } from "./chain.ts";
import { LogArchive } from "./log-archive.ts";
import { ShippedBinlog } from "./shipped-binlog.ts";

const PREFIX = "archives/database-1/log/";
const SEGMENT_BYTES = 65_536;
const TIMELINE = 0x69_00_00_00;

let folder: string;
let log: string;
let stores: TargetSet[];

beforeEach(() => {
  folder = freshFolder("log");
  log = join(folder, "log");
  stores = [];
  writeFileSync(join(log, "begun-69000000"), "");
});

afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()));
  removeFolder(folder);
});

/** A keeper that has just started, with the objects of a bucket. */
function keeperWith(objects: Iterable<readonly [string, Uint8Array]>) {
  const bucket = new MemoryTarget("bucket", true);
  for (const [name, sealed] of objects) bucket.objects.set(name, sealed);
  const notesDir = join(folder, `notes-${stores.length}`);
  mkdirSync(notesDir);
  const store = new TargetSet([new LateTarget(bucket)], {
    notesDir,
    sealer: new Sealer(KEY),
    throttle: new Throttle(0),
    log: silentLog,
  });
  stores.push(store);
  const archive = new LogArchive(store, PREFIX);
  return { bucket, store, archive, shipped: new ShippedBinlog(archive, SEGMENT_BYTES) };
}

async function shipAll(shipped: ShippedBinlog): Promise<void> {
  while ((await shipped.pass(log, 4)) !== "end");
}

test.each([1_000, SEGMENT_BYTES, SEGMENT_BYTES + 1_000])(
  "a file of %i bytes that the watermark has left behind survives a kill of the keeper",
  async (length) => {
    const bytes = bytesOf(length);
    const [first, second] = [1, 2].map((file) => join(log, binlogName(file))) as [string, string];
    const before = keeperWith([]);
    writeFileSync(first, bytes.subarray(0, 500));
    await shipAll(before.shipped);
    await before.store.tend();
    writeFileSync(first, bytes);
    writeFileSync(second, bytesOf(2_000, 2));
    await shipAll(before.shipped);
    const segment = before.shipped.watermark?.segment ?? "";
    expect(placeOf(segment, SEGMENT_BYTES)?.file).toBe(2);
    rmSync(first);

    const after = keeperWith(before.bucket.objects);
    await shipAll(after.shipped);
    const { objects, histories } = after.archive;
    const { watermark } = after.shipped;
    const catalog = { segmentBytes: SEGMENT_BYTES, objects, histories, watermark };
    expect(gapsOf({ format: "binlog", ...catalog })).toEqual([]);
    const index = Math.ceil(length / SEGMENT_BYTES) - 1;
    const name = nameAt({ timeline: TIMELINE, file: 1, index }, SEGMENT_BYTES);
    const end = bytes.subarray(index * SEGMENT_BYTES);
    const stored = await after.archive.read(name, SEGMENT_BYTES);
    expect(Buffer.compare(stored.subarray(0, end.length), end)).toBe(0);
  },
);
