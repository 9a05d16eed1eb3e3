// Two targets of which each is away for a while: in the end both have everything, and the keeper knows of it. Nothing is
// deleted before.
import { afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { Announcement, BackupFacts } from "../../contracts/keeper.ts";
import { lsnText, segmentName } from "../log/segment.ts";
import type { Keeper } from "../keeper.ts";
import {
  bytesOf,
  facts,
  freshFolder,
  keeperIn,
  removeFolder,
  storeBackup,
  streamOf,
} from "../test-support.ts";
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
  setSystemTime();
  await keeper.close();
  removeFolder(folder);
});

async function start(): Promise<void> {
  keeper = keeperIn(folder, [], { targets, lateTargetIntervalMs: 20 });
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
  await until("the first target takes writes again", () => keeper.store.targets[0]?.takesWrites === true);
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

const DAY_MS = 86_400_000;

/** A hot backup of some days ago whose log begins with a segment. */
function factsOf(daysAgo: number, number: number): BackupFacts {
  return {
    ...facts,
    engine: { name: "postgres", major: "17", version: "17.1" },
    completedAt: new Date(Date.now() - daysAgo * DAY_MS).toISOString(),
    postgres: {
      timeline: 1,
      startLsn: lsnText(number * SEGMENT_BYTES + 40),
      endLsn: lsnText(number * SEGMENT_BYTES + 9_000),
      startSegment: segment(number),
      segmentBytes: SEGMENT_BYTES,
      label: "",
      checkpointLsn: null,
    },
  };
}

async function backUp(backup: string, daysAgo: number, number: number): Promise<void> {
  await keeper.archives.store(ID, backup, streamOf(bytesOf(1_000)));
  await keeper.archives.complete(ID, backup, factsOf(daysAgo, number));
}

/** The second target is caught up as far as to lack the older of two backups, then the first is away at a start. */
async function startWithoutOlderBackup(): Promise<void> {
  await start();
  await backUp("older", 6, 1);
  await backUp("newer", 1, 3);
  for (const number of [1, 2, 3]) await keeper.store.put(LOG + segment(number), BYTES);
  await putWatermark(3, 1);
  await keeper.close();
  targets[1].objects.delete(`archives/${ID}/backups/older/backup.json`);
  targets[0].isAway = true;
  await start();
}

/** Names what may go, and deletes it more than a second later. */
async function retainTwice(): Promise<void> {
  const retention = { keepFrom: new Date(Date.now() - 7 * DAY_MS).toISOString(), keepBackups: [] };
  await keeper.archives.retain(ID, retention);
  setSystemTime(Date.now() + 2_000);
  await keeper.archives.retain(ID, retention);
}

test("retention deletes nothing while a target has not answered since the start", async () => {
  await startWithoutOlderBackup();
  expect(keeper.archives.state(ID)?.backups.map(({ id }) => id)).toEqual(["newer"]);
  await retainTwice();
  expect(targets[1].objects.has(LOG + segment(1))).toBe(true);
  targets[0].isAway = false;
  await until("the target that was away is read", async () => {
    await keeper.store.tend();
    return keeper.archives.state(ID)?.lastError === null;
  });
  expect(keeper.archives.state(ID)?.backups.map(({ id }) => id)).toEqual(["older", "newer"]);
  await retainTwice();
  expect(targets.map(({ objects }) => objects.has(LOG + segment(1)))).toEqual([true, true]);
});

test("a target that was away at the start is a fault of all archives until it is read", async () => {
  await startWithoutOlderBackup();
  targets[0].isAway = false;
  const faults: (string | null)[] = [];
  const end = keeper.archives.listen((line) => {
    if (line.type === "archive") faults.push(line.archive.lastError);
  });
  await until("the target works, and then is read", async () => {
    await keeper.store.tend();
    if (keeper.archives.state(ID)?.backups.length === 1)
      expect(keeper.archives.state(ID)?.lastError).not.toBeNull();
    return faults.includes(null);
  });
  end();
  expect(keeper.archives.state(ID)?.backups.map(({ id }) => id)).toEqual(["older", "newer"]);
});
