// When backups are due and what is kept, from orders and states of archives alone.
import { describe, expect, test } from "bun:test";
import type { ArchiveState, BackupInfo } from "../../../contracts/keeper.ts";
import { isLogLong, nextBackupMs, type Backlog, type BackupPolicy } from "./policy.ts";
import { retentionOf, type Kept } from "./retention.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse("2026-03-15T12:00:00.000Z");
const WINDOW: BackupPolicy = { keepsLog: true, isDaily: false, retentionDays: 7, startsAt: null };
const DAILY: BackupPolicy = { keepsLog: false, isDaily: true, retentionDays: 7, startsAt: null };

const isoOf = (ms: number) => new Date(ms).toISOString();

/** A backup whose copy is consistent at this time, of a Postgres at the position 0/0. */
function backup(completedMs: number, dataBytes = 41_943_040): BackupInfo {
  return {
    id: "snapshot-1",
    archive: "db-1",
    engine: { name: "postgres", major: "18", version: "18.1" },
    format: "tar",
    isHot: true,
    dataBytes,
    users: [],
    databases: [],
    startedAt: isoOf(completedMs - 1_000),
    completedAt: isoOf(completedMs),
    postgres: {
      timeline: 1,
      startLsn: "0/0",
      endLsn: "0/0",
      startSegment: "000000010000000000000001",
      segmentBytes: 4_194_304,
      label: null,
      checkpointLsn: null,
    },
    partCount: 1,
    plainBytes: 1,
    storedBytes: 1,
  };
}

const hex = (value: number) => value.toString(16).toUpperCase();

/** An archive with one backup, and so much log since. */
function archive(completedMs: number, logBytes: number, dataBytes?: number): ArchiveState {
  const lsn = `${hex(Math.floor(logBytes / 2 ** 32))}/${hex(logBytes % 2 ** 32)}`;
  const segment = "000000010000000000000001";
  return {
    id: "db-1",
    engine: null,
    backups: [backup(completedMs, dataBytes)],
    log: {
      timeline: 1,
      firstSegment: segment,
      watermark: { at: isoOf(NOW), segment, lsn },
      earliestRestoreTime: isoOf(completedMs),
      gaps: [],
      lagSeconds: 0,
    },
    storedBytes: 1,
    lastError: null,
  };
}

const next = (backlog: Partial<Backlog>) =>
  nextBackupMs({ policy: WINDOW, state: null, latest: null, asleepSinceMs: null, ...backlog }, NOW);

const begunAt = (iso: string) => ({ createdAtMs: Date.parse(iso), hasFailed: false });

describe("the next backup", () => {
  test("is due at once when there is none", () => {
    expect(next({})).toBeLessThanOrEqual(NOW);
  });

  test("is due ten minutes after an attempt that failed", () => {
    const latest = { createdAtMs: NOW - 1_000, hasFailed: true };
    expect(next({ latest })).toBe(NOW - 1_000 + 600_000);
  });

  test("is due a day after the latest, when there is log since", () => {
    expect(next({ state: archive(NOW - HOUR_MS, 1_000_000) })).toBe(NOW - HOUR_MS + DAY_MS);
    expect(next({ state: archive(NOW - 2 * DAY_MS, 1_000_000) })).toBeLessThan(NOW);
  });

  test("is not due while nothing has changed but sleeps and wakes", () => {
    expect(next({ state: archive(NOW - 2 * DAY_MS, 4_000) })).toBeGreaterThan(NOW);
  });

  test("is due when the log is long, however new the latest is", () => {
    expect(next({ state: archive(NOW - 1_000, 2 * 1024 ** 3) })).toBeLessThan(NOW);
  });

  test("is due a minute after the latest when the log was begun anew since", () => {
    const { log, ...rest } = archive(NOW - 1_000, 0);
    const state = { ...rest, log: log && { ...log, earliestRestoreTime: null } };
    const createdAtMs = NOW - 1_000;
    expect(next({ state })).toBeLessThan(NOW);
    expect(next({ state, latest: { createdAtMs, hasFailed: false } })).toBe(createdAtMs + 60_000);
    expect(next({ state, latest: { createdAtMs, hasFailed: true } })).toBe(createdAtMs + 600_000);
  });

  test("is not due again when the log has yet to reach the latest, as while an instance sleeps", () => {
    const { log, ...rest } = archive(NOW - HOUR_MS, 0);
    const state = { ...rest, log: log && { ...log, earliestRestoreTime: null } };
    const latest = { createdAtMs: NOW - HOUR_MS, hasFailed: false };
    const reachedAt = (ms: number) => ({
      ...state,
      log: state.log && { ...state.log, watermark: { ...state.log.watermark, at: isoOf(ms) } },
    });
    expect(next({ state: reachedAt(NOW - HOUR_MS), latest })).toBeLessThan(NOW);
    expect(next({ state: reachedAt(NOW - HOUR_MS - 1), latest })).toBeGreaterThan(NOW);
  });

  test("of a daily schedule waits for the time of the day of the window, half a day after the latest at least", () => {
    const policy = { ...DAILY, startsAt: "06:30" };
    const dueAfter = (iso: string) =>
      isoOf(next({ policy, state: archive(Date.parse(iso), 0), latest: begunAt(iso) }));
    expect(dueAfter("2026-03-14T06:30:00.000Z")).toBe("2026-03-15T06:30:00.000Z");
    expect(dueAfter("2026-03-14T17:00:00.000Z")).toBe("2026-03-15T06:30:00.000Z");
    expect(dueAfter("2026-03-14T20:00:00.000Z")).toBe("2026-03-16T06:30:00.000Z");
  });

  test("of a cluster that has slept since the latest is not due", () => {
    const latest = { createdAtMs: NOW - 2 * DAY_MS, hasFailed: false };
    const state = archive(NOW - 2 * DAY_MS, 0);
    expect(next({ policy: DAILY, state, latest, asleepSinceMs: NOW - 3 * DAY_MS })).toBeGreaterThan(NOW);
    expect(next({ policy: DAILY, state, latest, asleepSinceMs: NOW - DAY_MS })).toBeLessThan(NOW);
  });
});

test("a log is long beyond a tenth of the data, within 256 MiB and 1 GiB", () => {
  const mebibyte = 1024 ** 2;
  expect(isLogLong(archive(NOW, 250 * mebibyte))).toBe(false);
  expect(isLogLong(archive(NOW, 260 * mebibyte))).toBe(true);
  expect(isLogLong(archive(NOW, 900 * mebibyte, 100 * 1024 ** 3))).toBe(false);
  expect(isLogLong(archive(NOW, 1_100 * mebibyte, 100 * 1024 ** 3))).toBe(true);
});

describe("what is kept", () => {
  const snapshots: Kept["snapshots"] = [
    { id: "mine", type: "manual" },
    { id: "scheduled", type: "scheduled" },
  ];
  const kept = (given: Partial<Kept>) =>
    retentionOf(
      { row: { deletedAt: null, verifiedBackup: null }, policy: WINDOW, snapshots, restores: [], ...given },
      NOW,
    );

  test("is the window and each snapshot that a customer made", () => {
    expect(kept({})).toEqual({ keepFrom: isoOf(NOW - 7 * DAY_MS), keepBackups: ["mine"] });
  });

  test("after the window was turned off is each snapshot, and no log", () => {
    expect(kept({ policy: null })).toEqual({ keepFrom: null, keepBackups: ["mine", "scheduled"] });
  });

  test("after a deletion is the window, until it is over", () => {
    expect(kept({ row: { deletedAt: isoOf(NOW - DAY_MS), verifiedBackup: "v" } }).keepFrom).toBe(
      isoOf(NOW - 7 * DAY_MS),
    );
    expect(kept({ row: { deletedAt: isoOf(NOW - 8 * DAY_MS), verifiedBackup: "v" } })).toEqual({
      keepFrom: null,
      keepBackups: ["mine"],
    });
  });

  test("is the backup that was last restored without a fault, while the window is kept", () => {
    const row = { deletedAt: null, verifiedBackup: "sound" };
    expect(kept({ row }).keepBackups).toEqual(["mine", "sound"]);
    expect(kept({ row, policy: null }).keepBackups).toEqual(["mine", "scheduled"]);
  });

  test("is whatever a restore reads, however old", () => {
    const at = isoOf(NOW - 20 * DAY_MS);
    const restores = [
      { backup: "scheduled", at: null },
      { backup: null, at },
    ];
    expect(kept({ restores })).toEqual({ keepFrom: at, keepBackups: ["mine", "scheduled"] });
  });
});
