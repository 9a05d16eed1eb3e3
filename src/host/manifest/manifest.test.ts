// What is read of an instance's manifest, whatever a power cut left of it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { InstanceUser } from "../../drivers/driver.ts";
import { MAX_USERS } from "../../engines/users.ts";
import { noteManifest, readManifest, writeManifest } from "./manifest.ts";
import { sleepySpec } from "../test-support.ts";
import { manifestFor } from "./spec-change.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-manifest-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifest = manifestFor(sleepySpec("cache"), { name: "valkey", major: "8" }, null, () => 50_000);

test("one that was left empty is what was last written to stay", async () => {
  const path = join(folder, "emptied.json");
  await writeManifest(path, manifest);
  noteManifest(path, { ...manifest, isSettled: !manifest.isSettled });
  expect(readManifest(path)?.isSettled).toBe(!manifest.isSettled);
  truncateSync(path);
  expect(readManifest(path)).toEqual(manifest);
});

test("one that is not there is none, and one that makes no sense is left alone", () => {
  const path = join(folder, "odd.json");
  expect(readManifest(path)).toBeNull();
  for (const text of ["", "{", "{}"]) {
    writeFileSync(path, text);
    expect(() => readManifest(path)).toThrow("cannot be understood");
  }
});

describe("a manifest that an earlier release wrote with all users of an engine", () => {
  const spec = sleepySpec("postgres");
  const former = manifestFor(spec, { name: "postgres", major: "18" }, null, () => null);
  const path = join(tmpdir(), `pilvi-manifest-${process.pid}.json`);
  afterAll(() => rmSync(path, { force: true }));

  /** Reads a manifest in the form of that release. */
  function readWith(users: InstanceUser[]) {
    const { state: _, sleep, ...rest } = former;
    const { lastWake, wakes, since } = sleep;
    const record = { isAsleep: true, since, users, lastWake, wakes };
    writeFileSync(path, JSON.stringify({ ...rest, wish: "present", sleep: record }));
    return readManifest(path);
  }

  test("keeps users within the bounds", () => {
    const users = [
      { name: "app", verifier: "of the engine" },
      { name: "other", verifier: "x" },
    ];
    expect(readWith(users)).toMatchObject({ state: "asleep", sleep: { users, usersLeftOut: 0 } });
  });

  test.each([
    ["one verifier of 220 MB", () => [{ name: "a", verifier: "x".repeat(220_000_000) }]],
    [
      "a hundred thousand users",
      () =>
        Array.from({ length: 100_000 }, (_, index) => ({
          name: `"sleep":{"users":[${index}`,
          verifier: "x".repeat(133),
        })),
    ],
  ])("keeps the published login alone when there is %s", (_, users) => {
    const read = readWith(users());
    expect(read?.sleep.users).toEqual(spec.users);
    expect(read?.sleep.usersLeftOut).toBeGreaterThan(0);
    expect({ ...read, sleep: null }).toEqual({ ...former, state: "asleep", sleep: null });
  });

  test("keeps as many as there may be when some more are in a file of usual size", () => {
    const users = Array.from({ length: 5_000 }, (_, index) => ({ name: `user-${index}`, verifier: "x" }));
    const read = readWith(users);
    expect(read?.sleep.users).toHaveLength(MAX_USERS);
    expect(read?.sleep.usersLeftOut).toBe(5_000 - MAX_USERS + 1);
  });

  test("is left alone when it is too long for another reason", () => {
    writeFileSync(path, `{"spec":"${"x".repeat(10_000_000)}"}`);
    expect(() => readManifest(path)).toThrow("cannot be understood");
  });
});
