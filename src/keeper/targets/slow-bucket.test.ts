// A bucket that is slow for some objects: neither other logs nor other parts of a backup wait for them, and the order that
// a restore relies on stays.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import { S3Server } from "../../../tests/support/s3/s3-server.ts";
import type { Keeper } from "../keeper.ts";
import { bytesOf, freshFolder, keeperIn, PART_BYTES, removeFolder, storeBackup } from "../test-support.ts";
import { FolderTarget } from "./folder.ts";
import { LateTarget } from "./late-target.ts";
import { S3Target } from "./s3.ts";
import type { Target } from "./target.ts";

const SLOW = "archives/database-slow/log/";
const OTHER = "archives/database-other/log/";
const SEGMENT = "000000010000000000000001";
const PIECE = "000000010000000000000002.partial";
const BYTES = bytesOf(1_000);

let folder: string;
let server: S3Server;
let keeper: Keeper;
let release: () => void;

beforeEach(() => {
  folder = freshFolder("a");
  server = new S3Server().start();
});

afterEach(async () => {
  release();
  await keeper.close();
  await server.stop();
  removeFolder(folder);
});

function bucket(): Target {
  const { endpoint, credentials, bucket: name } = server;
  const access = { bucket: name, prefix: "", endpoint, region: "eu-central-1", ...credentials };
  return new LateTarget(new S3Target(access));
}

/** A keeper, and a bucket that keeps the writes of objects with a prefix waiting until they are released. */
async function start(slow: string, targets = [bucket()]): Promise<void> {
  keeper = keeperIn(folder, [], { targets });
  keeper.start();
  await keeper.loaded();
  await keeper.store.tend();
  const released = Promise.withResolvers<void>();
  release = released.resolve;
  server.holdUp = (key) => (key.startsWith(slow) ? released.promise : undefined);
}

async function put(...names: string[]): Promise<void> {
  for (const name of names) await keeper.store.put(name, BYTES);
}

/** The names of a log's objects in the bucket, in the order in which they came. */
function namesOf(log: string): string[] {
  return [...server.objects.keys()].filter((key) => key.startsWith(log)).map((key) => key.slice(log.length));
}

test("a log whose pieces are slow to store holds up neither this flush of others nor the next", async () => {
  await start(SLOW);
  await put(`${SLOW}${PIECE}.1`, `${SLOW}${PIECE}.2`, `${SLOW}watermark.json`);
  await put(`${OTHER}${PIECE}.1`, `${OTHER}watermark.json`);
  const slow = keeper.store.tend();
  await until("the other log is stored", () => server.objects.has(`${OTHER}watermark.json`));
  await put(`${OTHER}${PIECE}.2`);
  const next = keeper.store.tend();
  await until("the other log is stored on", () => server.objects.has(`${OTHER}${PIECE}.2`));
  expect(namesOf(SLOW)).toEqual([]);
  release();
  await Promise.all([slow, next]);
  expect(namesOf(SLOW)).toEqual([`${PIECE}.1`, `${PIECE}.2`, "watermark.json"]);
});

test("segments that are slow to store hold up no segments of other logs", async () => {
  await start(SLOW);
  const slow = Array.from({ length: 20 }, (_, index) => keeper.store.put(`${SLOW}${index}`, BYTES));
  for (let index = 0; index < 20; index += 1) await put(`${OTHER}${index}`);
  expect([namesOf(SLOW).length, namesOf(OTHER).length]).toEqual([0, 20]);
  release();
  await Promise.all(slow);
  expect(namesOf(SLOW)).toHaveLength(20);
});

test("a watermark waits for the segment before it, and for no other log", async () => {
  await start(SLOW, [new FolderTarget(join(folder, "a")), bucket()]);
  await put(`${SLOW}${SEGMENT}`, `${SLOW}watermark.json`, `${OTHER}${SEGMENT}`, `${OTHER}watermark.json`);
  const tended = keeper.store.tend();
  await until("the other log is stored", () => server.objects.has(`${OTHER}watermark.json`));
  expect(namesOf(SLOW)).toEqual([]);
  release();
  await tended;
  expect(namesOf(SLOW)).toEqual([SEGMENT, "watermark.json"]);
});

test("parts of a backup are on their way together, and it is declared complete after all of them", async () => {
  await start("archives/cache-1/backups/one/parts/");
  let held = 0;
  const { holdUp } = server;
  server.holdUp = (key) => {
    const wait = holdUp(key);
    if (wait === undefined) return;
    held += 1;
    if (held === 3) release();
    return wait;
  };
  await storeBackup(keeper, "cache-1", "one", bytesOf(PART_BYTES * 7 + 1));
  const names = namesOf("archives/cache-1/backups/one/");
  expect(names.slice(0, -2).sort()).toEqual(Array.from({ length: 8 }, (_, index) => `parts/00000${index}`));
  expect(names.slice(-2)).toEqual(["stream.json", "backup.json"]);
});
