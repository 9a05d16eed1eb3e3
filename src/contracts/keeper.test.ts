// The contract of the keeper: what it takes, and what it refuses.
import { describe, expect, test } from "bun:test";
import { announcementSchema, backupFactsSchema, restorePlanSchema, restoreTargetSchema } from "./keeper.ts";
import { readAs } from "./read.ts";

const engine = { name: "postgres", major: "17", version: "17.10" };

const facts = {
  engine,
  format: "tar",
  isHot: true,
  dataBytes: 40_000_000,
  users: ["app"],
  databases: ["app"],
  startedAt: "2026-11-22T14:40:10.968985Z",
  completedAt: "2026-11-22T14:40:11.000001Z",
  postgres: {
    timeline: 1,
    startLsn: "0/3000028",
    endLsn: "0/3000138",
    startSegment: "000000010000000000000003",
    segmentBytes: 4_194_304,
    label: "START WAL LOCATION: 0/3000028",
    checkpointLsn: null,
  },
};

describe("facts of a backup", () => {
  test("have instants with microseconds", () => {
    expect(readAs(backupFactsSchema, facts, "The facts") as unknown).toEqual(facts);
  });

  test.each([
    ["an unknown member", { ...facts, more: 1 }],
    ["an instant without an offset", { ...facts, completedAt: "2026-11-22T14:40:11" }],
    ["a negative size", { ...facts, dataBytes: -1 }],
    ["a segment that is no name", { ...facts, postgres: { ...facts.postgres, startSegment: "../1" } }],
  ])("with %s are refused", (_, value) => {
    expect(() => readAs(backupFactsSchema, value, "The facts")).toThrow("The facts is not as agreed");
  });
});

describe("a restore target", () => {
  test.each([[{ backup: "snapshot-1" }], [{ at: "2026-11-22T14:40:11.000001Z" }], [{ latest: true }]])(
    "%j is taken",
    (target) => {
      expect(readAs(restoreTargetSchema, target, "The target") as unknown).toEqual(target);
    },
  );

  test.each([[{}], [{ latest: false }], [{ backup: "a", latest: true }], [{ backup: "../a" }]])(
    "%j is refused",
    (target) => {
      expect(() => readAs(restoreTargetSchema, target, "The target")).toThrow("The target");
    },
  );
});

const planOf = (name: string) => ({
  backup: {
    ...facts,
    id: "snapshot-1",
    archive: "database-1",
    partCount: 1,
    plainBytes: 1,
    storedBytes: 1,
  },
  recovery: { kind: "immediate" },
  segments: [{ name, isPartial: false }],
  totalBytes: 1,
});

test("a plan names segments and timeline histories alone", () => {
  for (const name of ["000000010000000000000003", "00000002.history"])
    expect(readAs(restorePlanSchema, planOf(name), "The plan").segments).toHaveLength(1);
  expect(() => readAs(restorePlanSchema, planOf("../../etc/passwd"), "The plan")).toThrow("The plan");
});

test("an announcement names an absolute folder", () => {
  const log = { folder: "instances/database-1/data/pg_wal", isAwake: true, segmentBytes: 4_194_304 };
  expect(() => readAs(announcementSchema, { engine, log }, "It")).toThrow("log.folder");
  const absolute = { engine, log: { ...log, folder: `/${log.folder}` } };
  expect(readAs(announcementSchema, absolute, "It") as unknown).toEqual(absolute);
  expect(readAs(announcementSchema, { engine, log: null }, "It").log).toBeNull();
});

test("an announcement has the segments of all logs", () => {
  const log = { folder: "/pg_wal", isAwake: true };
  for (const segmentBytes of [1_048_576, 3_145_728, 1_073_741_824])
    expect(() => readAs(announcementSchema, { engine, log: { ...log, segmentBytes } }, "It")).toThrow(
      "segmentBytes",
    );
});
