// Two targets of which each is away for a while: in the end both have everything, and the keeper knows of it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Announcement } from "../../contracts/keeper.ts";
import { segmentName } from "../log/segment.ts";
import type { Keeper } from "../keeper.ts";
import { facts, freshFolder, keeperIn, removeFolder, storeBackup } from "../test-support.ts";
import { MemoryTarget } from "./test-target.ts";

const ID = "database-1";
const LOG = `archives/${ID}/log/`;
const WATERMARK = `${LOG}watermark.json`;
const SEGMENT_BYTES = 4_194_304;
const BYTES = new Uint8Array(9);

let folder: string;
let keeper: Keeper;
let [a, b]: MemoryTarget[] = [];
let targets: [MemoryTarget, MemoryTarget];

beforeEach(() => {
  folder = freshFolder();
  targets = [new MemoryTarget("a", false), new MemoryTarget("b", false)];
  [a, b] = targets;
});

afterEach(async () => {
  await keeper.close();
  removeFolder(folder);
});

async function start(): Promise<void> {
  keeper = keeperIn(folder, [], { targets });
  keeper.start();
  await keeper.loaded();
  await keeper.store.tend();
}

function segment(number: number): string {
  return segmentName({ timeline: 1, number }, SEGMENT_BYTES);
}

async function putWatermark(number: number, count: number): Promise<void> {
  const at = new Date(Date.parse(facts.completedAt) + count * 1_000).toISOString();
  const watermark = { at, segment: segment(number), lsn: "0/400028", count };
  await keeper.store.put(WATERMARK, new TextEncoder().encode(JSON.stringify(watermark)));
}

/** Both have the first segment; then only the first target gets the second, and after a restart the second the third. */
async function beAwayInTurns(): Promise<void> {
  await start();
  await keeper.store.put(LOG + segment(1), BYTES);
  await putWatermark(1, 1);
  targets[1].isAway = true;
  await keeper.store.put(LOG + segment(2), BYTES);
  await keeper.close();
  targets[1].isAway = false;
  targets[0].isAway = true;
  await start();
  await keeper.store.put(LOG + segment(3), BYTES);
  await putWatermark(3, 2);
  targets[0].isAway = false;
}

test("a target that was caught up without another is caught up again when that is back", async () => {
  await beAwayInTurns();
  await until("both targets have the whole log", async () => {
    await keeper.store.tend();
    return targets.every(({ objects }) => [1, 2, 3].every((number) => objects.has(LOG + segment(number))));
  });
});

test("the later of two watermarks is kept, also at the first target", async () => {
  await beAwayInTurns();
  const later = b?.objects.get(WATERMARK);
  await until("both targets have the later watermark", async () => {
    await keeper.store.tend();
    return targets.every(({ objects }) => objects.get(WATERMARK) === later && objects.has(LOG + segment(2)));
  });
  expect(a?.objects.get(WATERMARK)).toBe(later as Uint8Array);
});

test("segments of a target that is back are planned with and read", async () => {
  await beAwayInTurns();
  const engine: Announcement["engine"] = { name: "postgres", major: "17", version: "17.1" };
  const log = { folder: "/nonexistent", isAwake: false, segmentBytes: SEGMENT_BYTES };
  await keeper.archives.announce(ID, { engine, log });
  expect(keeper.archives.state(ID)?.log?.firstSegment).toBe(segment(1));
  await until("the keeper has looked through both targets", async () => {
    await keeper.store.tend();
    await keeper.review();
    return keeper.store.lastError === null;
  });
  await keeper.review();
  expect(keeper.archives.state(ID)?.log?.gaps).toEqual([]);
  expect((await keeper.archives.segment(ID, segment(2))).length).toBe(BYTES.length);
});

test("an archive that is deleted while a target is away does not come back with what that target alone has", async () => {
  await start();
  await storeBackup(keeper, ID, "one", BYTES);
  targets[0].failing = /backups\/two/;
  await storeBackup(keeper, ID, "two", BYTES);
  await until("the first target is used again", () => keeper.store.targets[0]?.isUsable === true);
  targets[1].isAway = true;
  targets[0].failing = null;
  await keeper.archives.delete(ID);
  targets[1].isAway = false;
  await until("nothing of it is at either target", async () => {
    await keeper.store.tend();
    await keeper.review();
    return targets.every(({ objects }) => ![...objects.keys()].some((name) => name.includes(ID)));
  });
  expect(keeper.archives.ids()).toEqual([]);
});
