// Plans of restores and retention, over archives that are described by hand.
import { describe, expect, test } from "bun:test";
import type { BackupInfo } from "../../contracts/keeper.ts";
import { gapsOf, type LogCatalog } from "./chain.ts";
import { HeldSegments } from "./held-segments.ts";
import { earliestRestoreTime, PlanRefused, restorePlan, type Catalog } from "./plan.ts";
import { deletableOf } from "./retention.ts";
import { lsnText, segmentName } from "./segment.ts";

const SEGMENT_BYTES = 4_194_304;
const nameOf = (number: number, timeline = 1) => segmentName({ timeline, number }, SEGMENT_BYTES);
const instant = (minute: number) => `2026-11-22T10:${String(minute).padStart(2, "0")}:00.000001Z`;

/** A hot backup of a minute whose log begins in a segment and ends in it. */
function backup(id: string, minute: number, number: number, timeline = 1): BackupInfo {
  return {
    id,
    archive: "a",
    engine: { name: "postgres", major: "18", version: "18.4" },
    format: "tar",
    isHot: true,
    dataBytes: 100,
    users: [],
    databases: [],
    startedAt: instant(minute - 1),
    completedAt: instant(minute),
    postgres: {
      timeline,
      startLsn: lsnText(number * SEGMENT_BYTES + 40),
      endLsn: lsnText(number * SEGMENT_BYTES + 400),
      startSegment: nameOf(number, timeline),
      segmentBytes: SEGMENT_BYTES,
      label: "label",
      checkpointLsn: null,
    },
    partCount: 1,
    plainBytes: 1000,
    storedBytes: 10,
  };
}

/** Whole segments, and 4,000 bytes of the next; the watermark is at its record at byte 3,000, at minute 50. */
function log(numbers: number[], timeline = 1): LogCatalog {
  const partial = (numbers.at(-1) ?? 0) + 1;
  return {
    segmentBytes: SEGMENT_BYTES,
    objects: {
      segments: new Set(numbers.map((number) => nameOf(number, timeline))),
      pieces: [{ segment: nameOf(partial, timeline), generation: 1, from: 0, to: 4000, mark: null }],
      histories: new Set(),
    },
    histories: new Map(),
    watermark: {
      at: instant(50),
      segment: nameOf(partial, timeline),
      lsn: lsnText(partial * SEGMENT_BYTES + 3000),
    },
  };
}

function refusalOf(plan: () => unknown): string {
  try {
    plan();
  } catch (error) {
    if (error instanceof PlanRefused) return error.code;
    throw error;
  }
  throw new Error("the plan was not refused");
}

const catalog: Catalog = {
  // Their order is that of their names here, which is not that of their data.
  backups: [backup("b", 30, 6), backup("a", 40, 8), backup("c", 20, 3)],
  log: log([3, 4, 5, 6, 7, 8, 9]),
};

describe("the plan of a restore", () => {
  test("to an instant begins with the newest backup before it, and has every segment to the end", () => {
    const { backup: base, segments, recovery, totalBytes } = restorePlan(catalog, { at: instant(35) });
    expect(base.id).toBe("b");
    expect(segments.map(({ name }) => name)).toEqual([6, 7, 8, 9, 10].map((number) => nameOf(number)));
    expect(segments.map(({ isPartial }) => isPartial)).toEqual([false, false, false, false, true]);
    expect(recovery).toEqual({
      kind: "time",
      at: instant(35),
      mustReachLsn: lsnText(10 * SEGMENT_BYTES + 3000),
    });
    expect(totalBytes).toBe(1000 + 5 * SEGMENT_BYTES);
  });

  test("to the very instant of a backup begins with it, a microsecond earlier with the one before", () => {
    expect(restorePlan(catalog, { at: instant(30) }).backup.id).toBe("b");
    expect(restorePlan(catalog, { at: instant(30).replace("000001", "000000") }).backup.id).toBe("c");
  });

  test("to the latest state reaches the watermark", () => {
    const { backup: base, recovery } = restorePlan(catalog, { latest: true });
    expect(base.id).toBe("a");
    expect(recovery).toMatchObject({ kind: "time", at: instant(50) });
  });

  test("to a backup needs no segments, since its stream has them", () => {
    const { segments, recovery } = restorePlan(catalog, { backup: "c" });
    expect(segments).toEqual([]);
    expect(recovery).toEqual({ kind: "immediate" });
  });

  test("is refused before the first backup, after the watermark, and for a backup that is gone", () => {
    expect(refusalOf(() => restorePlan(catalog, { at: instant(19) }))).toBe("too_early");
    expect(refusalOf(() => restorePlan(catalog, { at: instant(51) }))).toBe("too_late");
    expect(refusalOf(() => restorePlan(catalog, { backup: "z" }))).toBe("unknown_backup");
    expect(refusalOf(() => restorePlan({ backups: [], log: null }, { latest: true }))).toBe("unknown_backup");
  });

  test("is refused when any segment on the way is missing, whichever it is", () => {
    for (const missing of [3, 4, 5, 6, 7, 8, 9]) {
      const numbers = [3, 4, 5, 6, 7, 8, 9].filter((number) => number !== missing);
      const holed = { ...catalog, log: { ...log(numbers), watermark: catalog.log?.watermark ?? null } };
      const piece = { segment: nameOf(10), generation: 1, from: 0, to: 4000, mark: null };
      holed.log.objects.pieces = [piece];
      expect(refusalOf(() => restorePlan(holed, { at: instant(25) }))).toBe("gap");
      if (missing < 8) expect(restorePlan(holed, { at: instant(45) }).backup.id).toBe("a");
    }
  });

  test("is refused when the partial segment is that of yesterday, or a piece of it is missing", () => {
    for (const pieces of [
      [{ segment: nameOf(10), generation: 1, from: 0, to: 2999, mark: null }],
      [{ segment: nameOf(10), generation: 1, from: 500, to: 4000, mark: null }],
      [],
    ]) {
      const stale = { ...catalog, log: log([3, 4, 5, 6, 7, 8, 9]) };
      stale.log.objects.pieces = pieces;
      expect(refusalOf(() => restorePlan(stale, { latest: true }))).toBe("gap");
    }
  });

  test("is refused when the watermark is damaged", () => {
    const blind = { ...catalog, log: { ...log([3, 4, 5, 6, 7, 8, 9]), watermark: null } };
    expect(refusalOf(() => restorePlan(blind, { at: instant(35) }))).toBe("damaged");
  });

  test("of an instance without a log is that of a backup", () => {
    const plain = { backups: [{ ...backup("a", 10, 1), postgres: null }], log: null };
    expect(restorePlan(plain, { latest: true }).segments).toEqual([]);
    expect(refusalOf(() => restorePlan(plain, { at: instant(20) }))).toBe("too_early");
  });

  test("follows a change of the timeline by its history, and is refused without it", () => {
    const second = log([6, 7, 8], 2);
    second.objects.segments = new Set([
      ...[3, 4, 5, 6].map((n) => nameOf(n)),
      ...[6, 7, 8].map((n) => nameOf(n, 2)),
    ]);
    const changed = { backups: [backup("a", 20, 4)], log: second };
    expect(refusalOf(() => restorePlan(changed, { latest: true }))).toBe("gap");
    second.histories = new Map([[2, [{ timeline: 1, leftAt: 6 * SEGMENT_BYTES + 100 }]]]);
    expect(restorePlan(changed, { latest: true }).segments.map(({ name }) => name)).toEqual([
      "00000002.history",
      nameOf(4),
      nameOf(5),
      nameOf(6, 2),
      nameOf(7, 2),
      nameOf(8, 2),
      nameOf(9, 2),
    ]);
    const late = { backups: [backup("a", 20, 7)], log: second };
    expect(refusalOf(() => restorePlan(late, { latest: true }))).toBe("gap");
  });
});

describe("the earliest instant of a restore", () => {
  test("is that of the oldest backup that all segments follow", () => {
    expect(earliestRestoreTime(catalog)).toBe(instant(20));
    expect(earliestRestoreTime({ ...catalog, log: log([3, 4, 6, 7, 8, 9]) })).toBe(instant(30));
    expect(gapsOf(log([3, 4, 6, 7, 8, 9]))).toEqual([{ after: nameOf(4), before: nameOf(6) }]);
  });

  test("is unknown without a backup, or before the log of the first is shipped", () => {
    expect(earliestRestoreTime({ ...catalog, backups: [] })).toBeNull();
    expect(earliestRestoreTime({ ...catalog, backups: [backup("a", 55, 10)] })).toBeNull();
    expect(earliestRestoreTime({ ...catalog, log: null })).toBeNull();
  });
});

function deletable(keepFrom: string | null, keepBackups: string[] = []) {
  return deletableOf(catalog, { keepFrom, keepBackups });
}

describe("retention", () => {
  test("keeps the newest backup before the window, all later ones, and the log from there on", () => {
    expect(deletable(instant(35))).toEqual({ backups: ["c"], segments: [3, 4, 5].map((n) => nameOf(n)) });
    expect(deletable(instant(30))).toEqual({ backups: ["c"], segments: [3, 4, 5].map((n) => nameOf(n)) });
    expect(deletable(instant(25))).toEqual({ backups: [], segments: [] });
    expect(deletable(instant(10))).toEqual({ backups: [], segments: [] });
  });

  test("keeps a named backup, which needs no segments", () => {
    expect(deletable(instant(45), ["c"])).toEqual({
      backups: ["b"],
      segments: [3, 4, 5, 6, 7].map((n) => nameOf(n)),
    });
  });

  test("without a window keeps the named backups alone, and the log since the newest backup", () => {
    expect(deletable(null, ["b"])).toEqual({
      backups: ["c", "a"],
      segments: [3, 4, 5, 6, 7].map((n) => nameOf(n)),
    });
  });

  test("deletes no segment for a backup of other data than the log", () => {
    const other = log([3, 4, 5, 6, 7, 8, 9]);
    other.objects.begunAt = Date.parse(instant(35));
    const ofOther = { backups: catalog.backups, log: other };
    expect(deletableOf(ofOther, { keepFrom: instant(30), keepBackups: [] }).segments).toEqual(
      [3, 4, 5, 6, 7].map((number) => nameOf(number)),
    );
    other.objects.begunAt = Date.parse(instant(45));
    expect(deletableOf(ofOther, { keepFrom: instant(30), keepBackups: [] }).segments).toEqual([]);
    expect(deletableOf(ofOther, { keepFrom: null, keepBackups: [] }).segments).toEqual([]);
    expect(earliestRestoreTime(ofOther)).toBeNull();
  });

  test("deletes no segment before there is a backup", () => {
    expect(deletableOf({ ...catalog, backups: [] }, { keepFrom: null, keepBackups: [] }).segments).toEqual(
      [],
    );
  });

  test("whatever it keeps can be restored to every instant of the window", () => {
    for (let minute = 1; minute < 50; minute += 1) {
      const { backups, segments } = deletable(instant(minute));
      const kept = {
        backups: catalog.backups.filter(({ id }) => !backups.includes(id)),
        log: log([3, 4, 5, 6, 7, 8, 9].filter((number) => !segments.includes(nameOf(number)))),
      };
      for (let at = Math.max(minute, 20); at <= 50; at += 1)
        expect(() => restorePlan(kept, { at: instant(at) })).not.toThrow();
    }
  });
});

describe("deletion of segments", () => {
  test("waits until retention has named a segment again", () => {
    const held = new HeldSegments();
    expect(held.release(["a", "b"], 1000)).toEqual([]);
    expect(held.release(["b", "c"], 1500)).toEqual([]);
    expect(held.release(["b", "c"], 2100)).toEqual(["b"]);
    expect(held.release(["a", "c"], 2600)).toEqual(["c"]);
  });

  test("waits for a planned restore, for some hours", () => {
    const held = new HeldSegments();
    held.hold("a", nameOf(5, 2), 0);
    expect(held.holds("a", 5000)).toBe(true);
    expect(held.holds("b", 5000)).toBe(false);
    held.release([nameOf(4), nameOf(5), nameOf(6)], 0);
    expect(held.release([nameOf(4), nameOf(5), nameOf(6)], 5000)).toEqual([nameOf(4)]);
    expect(held.release([nameOf(5), nameOf(6)], 7 * 3_600_000)).toEqual([nameOf(5), nameOf(6)]);
  });
});
