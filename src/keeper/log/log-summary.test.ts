// The state of a log of many segments, which is asked for after each pass.
import { expect, test } from "bun:test";
import type { BackupInfo } from "../../contracts/keeper.ts";
import { facts } from "../test-support.ts";
import { binlogGapsOf, bytesSince, LAST_GENERATION, nameAt } from "./binlog-chain.ts";
import { LogArchive } from "./log-archive.ts";
import type { LogObjects } from "./objects.ts";
import { lsnText, segmentName } from "./segment.ts";
import { MemoryStore, SEGMENT_BYTES } from "./test-support.ts";
import { TrackedLog } from "./tracked-log.ts";

const PREFIX = "archives/a/log/";
const MANY = 25_000;

function nameOf(number: number): string {
  return segmentName({ timeline: 1, number }, SEGMENT_BYTES);
}

/** A cold backup whose log begins with a segment and ends within that. */
function backupAt(number: number, endByte = 4_000): BackupInfo {
  const postgres = {
    timeline: 1,
    startLsn: lsnText(number * SEGMENT_BYTES + 40),
    endLsn: lsnText(number * SEGMENT_BYTES + endByte),
    startSegment: nameOf(number),
    segmentBytes: SEGMENT_BYTES,
    label: null,
    checkpointLsn: null,
  };
  const completedAt = new Date(Date.UTC(2026, 0, 1) + number * 1_000).toISOString();
  const stored = { id: `b${number}`, archive: "a", partCount: 1, plainBytes: 1, storedBytes: 1 };
  return { ...facts, ...stored, completedAt, postgres };
}

/** The log of a Postgres with the segments up to a number. */
async function logUpTo(last: number): Promise<TrackedLog> {
  const store = new MemoryStore();
  const archive = new LogArchive(store, PREFIX);
  await archive.load(Array.from({ length: last }, (_, index) => PREFIX + nameOf(index + 1)));
  const lsn = lsnText(last * SEGMENT_BYTES + 100);
  await archive.putWatermark({ at: new Date().toISOString(), segment: nameOf(last), lsn });
  const log = new TrackedLog(archive);
  log.announce({ folder: "/nowhere", isAwake: true, segmentBytes: SEGMENT_BYTES });
  return log;
}

test("a state does not go through all segments again when none has changed", async () => {
  const log = await logUpTo(MANY);
  const backups = [backupAt(1)];
  for (let count = 0; count < 300; count += 1) log.state([...backups]);
  expect(log.state(backups)).toMatchObject({ firstSegment: nameOf(1), gaps: [] });
}, 5_000);

test("a state follows the segments, the backups and the watermark", async () => {
  const log = await logUpTo(9);
  const [first, third] = [backupAt(1), backupAt(3)];
  expect(log.state([first, third])).toMatchObject({ earliestRestoreTime: first.completedAt, gaps: [] });
  expect(log.state([third])?.earliestRestoreTime).toBe(third.completedAt);
  await log.deleteSegments([nameOf(1)]);
  expect(log.state([first, third])).toMatchObject({
    firstSegment: nameOf(2),
    earliestRestoreTime: third.completedAt,
  });
  await log.deleteSegments([nameOf(5)]);
  const gaps = [{ after: nameOf(4), before: nameOf(6) }];
  expect(log.state([first, third])).toMatchObject({ earliestRestoreTime: null, gaps });
  await log.archive.putSegment(nameOf(5), new Uint8Array());
  expect(log.state([third])).toMatchObject({ earliestRestoreTime: third.completedAt, gaps: [] });
  const lsn = lsnText(11 * SEGMENT_BYTES);
  await log.archive.putWatermark({ at: new Date().toISOString(), segment: nameOf(11), lsn });
  expect(log.state([third])?.earliestRestoreTime).toBeNull();
});

test("a backup can be restored as soon as a piece has its end", async () => {
  const log = await logUpTo(3);
  const [backup, segment] = [backupAt(4), nameOf(4)];
  const piece = async (from: number, to: number) => {
    const claim = { at: Date.now(), lsn: 4 * SEGMENT_BYTES + to - 10 };
    await log.archive.putPiece({ segment, generation: 1, from, to }, new Uint8Array(to - from), claim);
  };
  await piece(0, 1_000);
  expect(log.state([backup])?.earliestRestoreTime).toBeNull();
  await piece(1_000, 5_000);
  expect(log.state([backup])?.earliestRestoreTime).toBe(backup.completedAt);
});

test("each of many short files of a binary log is looked up once", () => {
  const timeline = 0x69_00_00_00;
  const names = Array.from({ length: MANY }, (_, file) =>
    nameAt({ timeline, file: file + 1, index: 0 }, SEGMENT_BYTES),
  );
  const end = { generation: LAST_GENERATION, from: 0, to: 10, mark: null };
  const pieces = names.map((segment) => ({ segment, ...end }));
  const objects: LogObjects = { segments: new Set(), pieces, histories: new Set() };
  const watermark = { at: new Date().toISOString(), segment: names.at(-1) ?? "", lsn: "1/0" };
  const catalog = { segmentBytes: SEGMENT_BYTES, objects, histories: new Map(), watermark };
  expect(binlogGapsOf({ ...catalog, format: "binlog" })).toEqual([]);
  expect(bytesSince(catalog, "")).toBe(MANY * 10);
}, 10_000);
