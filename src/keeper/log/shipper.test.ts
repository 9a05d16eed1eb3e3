// Logs whose old segments are being deleted at a slow target: they hold up no other log, and show that they lag.
import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { BackupInfo } from "../../contracts/keeper.ts";
import { logPrefix } from "../names.ts";
import { facts, freshFolder, removeFolder, silentLog } from "../test-support.ts";
import { binlogName, nameAt, positionIn } from "./binlog-chain.ts";
import { lsnText } from "./segment.ts";
import { LogShipper } from "./shipper.ts";
import { MemoryStore } from "./test-support.ts";

const SEGMENT_BYTES = 65_536;
const FILE_SEGMENTS = 20;
const TIMELINE = 0x69_00_00_00;
/** The segments of the first two files of a log. */
const NAMES = [1, 2].flatMap((file) =>
  Array.from({ length: FILE_SEGMENTS }, (_, index) =>
    nameAt({ timeline: TIMELINE, file, index }, SEGMENT_BYTES),
  ),
);

const ignore = () => undefined;

/** A store whose deletions of some objects wait until the test lets them go on. */
class SlowStore extends MemoryStore {
  /** The ends of the names whose deletions wait. */
  held = new Set<string>();
  /** How many deletions wait. */
  waiting = 0;
  #go = Promise.withResolvers<void>();

  /** Ends the waits of deletions, and makes the deletions of other names wait from now on. */
  letGo(...held: string[]): void {
    this.held = new Set(held);
    this.#go.resolve();
    this.#go = Promise.withResolvers<void>();
  }

  override async delete(name: string): Promise<void> {
    if (this.held.has(name.split("/").at(-1) ?? "")) {
      this.waiting += 1;
      await this.#go.promise;
      this.waiting -= 1;
    }
    await super.delete(name);
  }
}

let folder: string;
let store: SlowStore;
let shipper: LogShipper;

beforeEach(() => {
  folder = freshFolder();
  store = new SlowStore();
  shipper = new LogShipper({ store, log: silentLog, intervalMs: 5, prefixOf: logPrefix, onTurn: ignore });
});

afterEach(async () => {
  setSystemTime();
  store.letGo();
  await shipper.stop();
  removeFolder(folder);
});

/** A log with files of so many bytes. */
function logOf(id: string, ...files: number[]) {
  mkdirSync(join(folder, id));
  writeFileSync(join(folder, id, "begun-69000000"), "");
  for (const [index, bytes] of files.entries())
    writeFileSync(join(folder, id, binlogName(index + 1)), new Uint8Array(bytes));
  const log = shipper.logOf(id);
  log.announce({ folder: join(folder, id), isAwake: true, segmentBytes: SEGMENT_BYTES, format: "binlog" });
  return log;
}

/** A log of two files that is shipped, with some bytes after the last whole segment. */
async function longLog() {
  const log = logOf("a", FILE_SEGMENTS * SEGMENT_BYTES, FILE_SEGMENTS * SEGMENT_BYTES + 100);
  await log.flush();
  return log;
}

/** How much of the latest file is shipped. */
function shippedBytes(id: string): number {
  const lsn = shipper.logOf(id).state([])?.watermark.lsn ?? "0/0";
  return Number.parseInt(lsn.split("/")[1] ?? "", 16);
}

/** A backup that the log goes on after with its second file. */
function secondBackup(): BackupInfo {
  const mysql = {
    timeline: TIMELINE,
    startSegment: NAMES[FILE_SEGMENTS] as string,
    startLsn: lsnText(positionIn(2, 0)),
    segmentBytes: SEGMENT_BYTES,
    endedAt: "2026-11-22T14:40:11Z",
  };
  return { ...facts, id: "one", archive: "a", partCount: 1, plainBytes: 1, storedBytes: 1, mysql };
}

test("a log that is being deleted holds up no other, and its lag grows", async () => {
  const a = await longLog();
  logOf("b", 100);
  shipper.start();
  store.letGo(...NAMES);
  const deleted = a.deleteSegments(NAMES);
  for (let bytes = 110; bytes <= 400; bytes += 10) {
    appendFileSync(join(folder, "b", binlogName(1)), "y".repeat(10));
    await until("the other log is shipped", () => shippedBytes("b") === bytes);
  }
  setSystemTime(Date.now() + 60_000);
  expect(a.state([])?.lagSeconds).toBeGreaterThan(55);
  setSystemTime();
  store.letGo();
  expect(await deleted).toBe(NAMES.length);
  await until("the lag is over", () => a.state([])?.lagSeconds === 0);
});

test("passes come between the deletions of a log", async () => {
  const a = await longLog();
  store.letGo(...NAMES);
  const deleted = a.deleteSegments(NAMES.slice(0, -1));
  appendFileSync(join(folder, "a", binlogName(2)), "y".repeat(10));
  const turned = a.turn();
  store.letGo(NAMES.at(-2) ?? "");
  await turned;
  expect(shippedBytes("a")).toBe(FILE_SEGMENTS * SEGMENT_BYTES + 110);
  expect(a.archive.objects.segments.size).toBeGreaterThan(1);
  store.letGo();
  await deleted;
  expect([...a.archive.objects.segments]).toEqual(NAMES.slice(-1));
});

test("retention deletes no segment of a restore that is planned between its deletions", async () => {
  const a = await longLog();
  store.letGo(...NAMES);
  const deleted = a.deleteSegments(NAMES.slice(0, 30));
  const planning = a.plan([secondBackup()], { latest: true });
  store.letGo(NAMES[FILE_SEGMENTS - 1] ?? "");
  const plan = await planning;
  store.letGo();
  expect(await deleted).toBe(FILE_SEGMENTS);
  const planned = plan.segments.slice(0, -1).map(({ name }) => name);
  expect(planned).toEqual(NAMES.slice(FILE_SEGMENTS));
  expect([...a.archive.objects.segments]).toEqual(planned);
});

test("a listing from before the deletions brings no segment back", async () => {
  const a = await longLog();
  const listing = shipper.beginListing();
  const names = [...store.objects.keys()];
  store.letGo(...NAMES);
  const deleted = a.deleteSegments(NAMES.slice(0, 30));
  const taken = listing.take("a", names, false);
  store.letGo();
  await Promise.all([deleted, taken]);
  listing.end();
  expect([...a.archive.objects.segments]).toEqual(NAMES.slice(30));
});

test("a log that begins anew takes no worker until what it had is deleted", async () => {
  const a = await longLog();
  store.letGo(...NAMES);
  const begun = a.beginAnew();
  await until("the deletions wait", () => store.waiting > 0);
  expect(a.isDue(Date.now())).toBe(false);
  store.letGo();
  await begun;
  expect(a.isDue(Date.now())).toBe(true);
});
