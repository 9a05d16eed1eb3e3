// Which state of an archive is verified, and when that is worthwhile.
import { describe, expect, test } from "bun:test";
import { backupInfo, emptyState } from "../../../../tests/support/api/archives.ts";
import type { ArchiveState, LogState } from "../../../contracts/keeper.ts";
import type { Verification } from "../../kind.ts";
import { shortPauseMs, verificationTarget, type VerificationChoice } from "./verification-policy.ts";

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-03-15T08:00:00Z");
const ID = "db-one";

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

const LOG: LogState = {
  timeline: 1,
  firstSegment: "000000010000000000000001",
  watermark: { at: isoOf(NOW), segment: "000000010000000000000003", lsn: "0/C000000" },
  earliestRestoreTime: isoOf(NOW - 3 * DAY_MS),
  gaps: [],
  lagSeconds: 0,
};

const backups = ["old", "new"].map((id, index) => backupInfo(ID, id, new Date(NOW - (2 - index) * DAY_MS)));
const STATE: ArchiveState = { ...emptyState(ID), backups };

function verification(given: Partial<Verification> = {}): Verification {
  return {
    backup: "new",
    at: isoOf(NOW - DAY_MS),
    bytes: 1,
    restoreSeconds: 1,
    checkSeconds: 1,
    checked: 1,
    isComplete: true,
    faults: [],
    endedAt: isoOf(NOW - DAY_MS),
    ...given,
  };
}

function targetOf(given: Partial<VerificationChoice>) {
  return verificationTarget({
    state: STATE,
    latest: null,
    intervalMs: DAY_MS,
    nowMs: NOW,
    random: () => 0.25,
    ...given,
  });
}

describe("what is verified", () => {
  test("is nothing without a backup, and the newest backup at first", () => {
    expect(targetOf({ state: undefined })).toBeNull();
    expect(targetOf({ state: emptyState(ID) })).toBeNull();
    expect(targetOf({ state: { ...STATE, log: LOG } })).toEqual({ backup: "new" });
  });

  test("is the newest backup, or an instant inside the window, by chance", () => {
    const state = { ...STATE, log: LOG };
    const latest = verification({ backup: "old" });
    expect(targetOf({ state, latest, random: () => 0.75 })).toEqual({ backup: "new" });
    for (const random of [0, 0.1, 0.25, 0.499]) {
      const target = targetOf({ state, latest, random: () => random });
      const at = target !== null && "at" in target ? target.at : "";
      expect(at > (LOG.earliestRestoreTime ?? "") && at < LOG.watermark.at).toBe(true);
    }
  });

  test("is the newest backup after a fault, and while the window has gaps", () => {
    const state = { ...STATE, log: LOG };
    expect(targetOf({ state, latest: verification({ backup: "old", faults: ["It is damaged."] }) })).toEqual({
      backup: "new",
    });
    const gaps = [{ after: "000000010000000000000001", before: "000000010000000000000003" }];
    const latest = verification({ backup: "old" });
    expect(targetOf({ state: { ...STATE, log: { ...LOG, gaps } }, latest })).toEqual({ backup: "new" });
  });

  test("is nothing while nothing has changed since, until a week is over", () => {
    const latest = verification();
    expect(targetOf({ latest })).toBeNull();
    expect(targetOf({ latest, nowMs: NOW + 6 * DAY_MS })).toEqual({ backup: "new" });
  });

  test("is something again as soon as the log has changes", () => {
    const postgres = {
      timeline: 1,
      startLsn: "0/3000000",
      endLsn: "0/3000100",
      startSegment: LOG.firstSegment,
      segmentBytes: 4 * 1024 ** 2,
      label: null,
      checkpointLsn: null,
    };
    const newest = backupInfo(ID, "new", new Date(NOW - DAY_MS));
    const state = { ...STATE, log: LOG, backups: [{ ...newest, postgres }] };
    expect(targetOf({ state, latest: verification() })).not.toBeNull();
    const log = { ...LOG, watermark: { ...LOG.watermark, lsn: "0/3000200" } };
    expect(targetOf({ state: { ...state, log }, latest: verification() })).toBeNull();
  });
});

test("the first verification, and another after an attempt without a result, come within an hour", () => {
  expect([1_000, DAY_MS].map(shortPauseMs)).toEqual([1_000, 3_600_000]);
});
