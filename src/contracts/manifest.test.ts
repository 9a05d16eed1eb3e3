// Formats of the manifest: today's, earlier formats, and those of a newer Pilvi.
import { describe, expect, test } from "bun:test";
import { MANIFEST_FORMAT, manifestFrom, manifestText, NewerManifest, type Manifest } from "./manifest.ts";
import type { CacheSpec, Origin, PostgresSpec } from "./instance-spec.ts";
import { neverAsleep } from "./sleep.ts";
import { textInFormat1 } from "./test-support.ts";

const manifest: Manifest = {
  spec: {
    kind: "cache",
    id: "cache-1",
    engines: ["valkey", "redis"],
    users: [{ name: "default", verifier: "00" }],
    exposure: { port: 20_000, scope: "loopback", through: "engine" },
    sleepAfterSeconds: null,
    memoryBytes: 1_000_000,
    evictionPolicy: "noeviction",
  },
  state: "awake",
  engine: { name: "valkey", major: "8" },
  uid: 50_000,
  adminPassword: "secret",
  servedThrough: "engine",
  madeDatabases: null,
  sleep: neverAsleep(),
};

function withMembers(members: Record<string, unknown>): string {
  return JSON.stringify({ format: MANIFEST_FORMAT, ...manifest, ...members });
}

describe("a manifest of today's format", () => {
  test("is read as it was written, and says its format", () => {
    expect(JSON.parse(manifestText(manifest))).toMatchObject({ format: MANIFEST_FORMAT });
    expect(manifestFrom(manifestText(manifest))).toEqual(manifest);
  });

  test("is refused with an unknown member, and without a required member", () => {
    expect(() => manifestFrom(withMembers({ colour: "blue" }))).toThrow("colour is unknown");
    expect(() => manifestFrom(withMembers({ servedThrough: undefined }))).toThrow("servedThrough is missing");
    const spec = { ...manifest.spec, memoryBytes: "much" };
    expect(() => manifestFrom(withMembers({ spec }))).toThrow("spec.memoryBytes must be of type number");
  });
});

test("a manifest of a newer format is refused with a sentence that says what to do", () => {
  const newer = withMembers({ format: MANIFEST_FORMAT + 1, spec: { unknown: true } });
  expect(() => manifestFrom(newer)).toThrow(NewerManifest);
  expect(() => manifestFrom(newer)).toThrow(
    "The manifest was written by a newer Pilvi (format 5; this one knows 4). " +
      "Start that version or a later one; the data was left alone.",
  );
});

test("a manifest of format 2 is read as it is, and an origin and a kept log in today's format", () => {
  expect(manifestFrom(withMembers({ format: 2 }))).toEqual(manifest);
  const { evictionPolicy: _, ...common } = manifest.spec as CacheSpec;
  const cluster = { version: null, cpus: null, maxConnections: 20, databases: [], keepsLog: true };
  const origins: Origin[] = [
    { archive: "db-1", backup: "snapshot-1" },
    { archive: "db-1", at: "2026-11-22T14:40:10.968985Z" },
    { instance: "db-1" },
  ];
  for (const origin of origins) {
    const spec = { ...common, ...cluster, kind: "postgres", engines: ["postgres"], origin } as PostgresSpec;
    expect(manifestFrom(manifestText({ ...manifest, spec }))).toEqual({ ...manifest, spec });
  }
  const spec = { ...manifest.spec, origin: { archive: "../db-1", backup: "snapshot-1" } };
  expect(() => manifestFrom(withMembers({ spec }))).toThrow("spec.origin.archive is malformed");
});

test("a manifest whose format is not a number is refused", () => {
  for (const format of ["2", 0, 1.5, null])
    expect(() => manifestFrom(withMembers({ format }))).toThrow("format");
});

describe("a manifest without a format", () => {
  test("has the members that early releases did not write", () => {
    const { exposure, sleepAfterSeconds: _, ...spec } = { ...manifest.spec, sleepAfterSeconds: null };
    const { engine, adminPassword } = manifest;
    const early = {
      spec: { ...spec, exposure: { port: exposure.port, scope: exposure.scope } },
      desiredState: "present",
      engine,
      adminPassword,
    };
    const read = manifestFrom(textInFormat1(early));
    expect(read).toEqual({ ...manifest, uid: null, sleep: { ...manifest.sleep, since: read.sleep.since } });
  });

  test("has the state that its former members mean", () => {
    const { state: _, sleep, ...former } = manifest;
    const states: [state: Manifest["state"], isAsleep: boolean, members: object][] = [
      ["awake", false, { desiredState: "present" }],
      ["changed", false, { desiredState: "present", isReplaced: true, isSettled: false }],
      ["asleep", true, { desiredState: "present", isReplaced: false, isSettled: false }],
      ["asleepApplied", true, { desiredState: "present", isReplaced: false, isSettled: true }],
      ["removing", true, { desiredState: "removed", isSettled: true }],
    ];
    for (const [state, isAsleep, members] of states) {
      const text = textInFormat1({ ...former, ...members, sleep: { ...sleep, isAsleep } });
      expect(manifestFrom(text)).toMatchObject({ state, sleep });
    }
  });

  test("is refused with an unknown member", () => {
    const { state: _, sleep: __, ...former } = manifest;
    const odd = { ...former, desiredState: "present", colour: "blue" };
    expect(() => manifestFrom(textInFormat1(odd))).toThrow("colour is unknown");
  });
});
