// The log at each target by itself while pieces of a segment are replaced: what a target has promised, it alone can restore.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../../tests/support/pilvi/pilvi.ts";
import type { BackupInfo } from "../../contracts/keeper.ts";
import { Sealer } from "../envelope.ts";
import { LogArchive } from "../log/log-archive.ts";
import { restorePlan } from "../log/plan.ts";
import { segmentName } from "../log/segment.ts";
import type { ObjectStore } from "../object-store.ts";
import { facts, freshFolder, KEY, removeFolder, silentLog } from "../test-support.ts";
import { LateTarget } from "./late-target.ts";
import { TargetSet } from "./target-set.ts";
import { MemoryTarget } from "./test-target.ts";
import { Throttle } from "./throttle.ts";

const SEGMENT_BYTES = 4_194_304;
const PREFIX = "archives/database-1/log/";
const [FIRST, SECOND] = [1, 2].map((number) => segmentName({ timeline: 1, number }, SEGMENT_BYTES)) as [
  string,
  string,
];
const WHOLE = new RegExp(`${SECOND}$`);
const WHEN = Date.parse(facts.completedAt) + 60_000;

const base: BackupInfo = {
  ...facts,
  id: "base",
  archive: "database-1",
  partCount: 1,
  plainBytes: 1,
  storedBytes: 1,
  postgres: {
    timeline: 1,
    startLsn: "0/400028",
    endLsn: "0/400028",
    startSegment: FIRST,
    segmentBytes: SEGMENT_BYTES,
    label: null,
    checkpointLsn: "0/400028",
  },
};

let folder: string;
let near: MemoryTarget;
/** The second target: a bucket, or another folder. */
let other: MemoryTarget;
let store: TargetSet;
let log: LogArchive;
const sealer = new Sealer(KEY);

beforeEach(() => (folder = freshFolder()));

afterEach(async () => {
  await store.close();
  removeFolder(folder);
});

/** Starts a log with a whole segment and a piece of the next, which both targets have. */
async function start(isRemote: boolean): Promise<void> {
  near = new MemoryTarget("near", false);
  other = new MemoryTarget("other", isRemote);
  const targets = [near, isRemote ? new LateTarget(other) : other];
  const notesDir = join(folder, "notes");
  store = new TargetSet(targets, { notesDir, sealer, throttle: new Throttle(0), log: silentLog });
  await store.tend();
  log = new LogArchive(store, PREFIX);
  await log.load();
  await log.putSegment(FIRST, new Uint8Array(100));
  await putPiece(1, 0, 1_000);
  await log.putWatermark(watermarkAt(900));
  await store.tend();
}

function watermarkAt(byte: number) {
  const lsn = `0/${(2 * SEGMENT_BYTES + byte).toString(16).toUpperCase()}`;
  return { at: new Date(WHEN).toISOString(), segment: SECOND, lsn };
}

async function putPiece(generation: number, from: number, to: number): Promise<void> {
  const claim = { at: WHEN, lsn: 2 * SEGMENT_BYTES + to - 100 };
  await log.putPiece({ segment: SECOND, generation, from, to }, new Uint8Array(to - from), claim);
}

/** As a pass does when the segment is complete. */
async function completeSegment(): Promise<void> {
  await log.putSegment(SECOND, new Uint8Array(200));
  await log.deletePieces(({ segment }) => segment === SECOND);
}

/** Plans a restore to the latest state from one target alone. @returns the segments of the plan. @throws without a plan. */
async function planOf(target: MemoryTarget) {
  const objects: ObjectStore = {
    put: () => Promise.reject(new Error("it is only read")),
    delete: () => Promise.reject(new Error("it is only read")),
    list: (prefix) => target.list(prefix),
    get: async (name) => await sealer.open(name, await target.read(name)),
  };
  const archive = new LogArchive(objects, PREFIX);
  await archive.load();
  const { watermark, histories } = archive;
  const catalog = { segmentBytes: SEGMENT_BYTES, objects: archive.objects, histories, watermark };
  return restorePlan({ backups: [base], log: catalog }, { latest: true }).segments;
}

/** The names of the log's objects at a target. */
function namesAt({ objects }: MemoryTarget): string[] {
  const names = [...objects.keys()].filter((name) => name.startsWith(PREFIX));
  return names.map((name) => name.slice(PREFIX.length)).sort();
}

/** Notes each moment at which a target could not restore what it had promised. */
function watch(target: MemoryTarget): () => Promise<unknown[]> {
  const looks: Promise<unknown>[] = [];
  // The objects of this moment are listed before anything else happens.
  target.onChange = () => void looks.push(planOf(target).then(() => null, String));
  return async () => (await Promise.all(looks)).filter((fault) => fault !== null);
}

test("a bucket keeps the pieces of a segment until it has the segment", async () => {
  await start(true);
  const release = other.hold(WHOLE);
  await completeSegment();
  expect(await planOf(other)).toEqual([
    { name: FIRST, isPartial: false },
    { name: SECOND, isPartial: true },
  ]);
  const tended = store.tend();
  release();
  await tended;
  expect(await planOf(other)).toEqual([
    { name: FIRST, isPartial: false },
    { name: SECOND, isPartial: false },
  ]);
  await log.putWatermark(watermarkAt(2_000));
  await store.tend();
  expect(namesAt(other)).toEqual([FIRST, SECOND, "watermark.json"]);
});

test("a bucket keeps the pieces of a former generation until it has the new one", async () => {
  await start(true);
  const faultsOf = watch(other);
  await putPiece(2, 0, 2_000);
  await log.deletePieces(({ generation }) => generation === 1);
  expect(namesAt(other).filter((name) => name.includes(".partial."))).toHaveLength(1);
  await store.tend();
  expect(namesAt(other).filter((name) => name.includes(".partial."))).toEqual([
    expect.stringContaining(".partial.00000002."),
  ]);
  expect(await faultsOf()).toEqual([]);
});

test.each([true, false])(
  "a target that refused a segment keeps its pieces until it is caught up (a bucket: %p)",
  async (isRemote) => {
    await start(isRemote);
    const faultsOf = watch(other);
    other.failing = WHOLE;
    await completeSegment();
    await log.putWatermark(watermarkAt(2_000));
    await store.tend();
    expect(await planOf(other)).toHaveLength(2);
    expect(namesAt(other)).not.toContain(SECOND);
    other.failing = null;
    await until("the target is caught up", async () => {
      await store.tend();
      return Bun.deepEquals(namesAt(other), [FIRST, SECOND, "watermark.json"]);
    });
    expect(await faultsOf()).toEqual([]);
  },
);

test("pieces stay at a target while the only one with their segment is away", async () => {
  await start(false);
  other.failing = WHOLE;
  await completeSegment();
  near.isAway = true;
  other.failing = null;
  await until("the target is used again", async () => {
    await store.tend();
    return store.targets[1]?.backlog.isBehind === false;
  });
  expect(await planOf(other)).toHaveLength(2);
  near.isAway = false;
  await until("the target is caught up", async () => {
    await store.tend();
    return namesAt(other).includes(SECOND);
  });
  await log.putWatermark(watermarkAt(2_000));
  await until("the pieces are deleted", async () => {
    await store.tend();
    return Bun.deepEquals(namesAt(other), [FIRST, SECOND, "watermark.json"]);
  });
});

test("a deletion that waits for a write is carried out by a later keeper", async () => {
  await start(true);
  const release = other.hold(WHOLE);
  await completeSegment();
  const options = { notesDir: join(folder, "notes"), sealer, throttle: new Throttle(0), log: silentLog };
  const later = new TargetSet([near, new LateTarget(other)], options);
  release();
  await later.tend();
  expect(namesAt(other)).toEqual([FIRST, SECOND, "watermark.json"]);
  await later.close();
});
