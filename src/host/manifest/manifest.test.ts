// Reading an instance's manifest, including the remains of a power cut.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textInFormat1 } from "../../contracts/test-support.ts";
import type { InstanceUser } from "../../contracts/users.ts";
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

test("a manifest that a power cut left empty is read from its last durable copy", async () => {
  const path = join(folder, "emptied.json");
  await writeManifest(path, manifest);
  noteManifest(path, { ...manifest, state: "changed" });
  expect(readManifest(path)?.state).toBe("changed");
  truncateSync(path);
  expect(readManifest(path)).toEqual(manifest);
});

test("a missing manifest is null, and a malformed manifest is an error", () => {
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

  /** Reads a manifest in the form of the earlier release. */
  function readWith(users: InstanceUser[]) {
    const { state: _, sleep, ...rest } = former;
    const { lastWake, wakes, since } = sleep;
    const record = { isAsleep: true, since, users, lastWake, wakes };
    writeFileSync(path, textInFormat1({ ...rest, desiredState: "present", sleep: record }));
    return readManifest(path);
  }

  test("users within the bounds are kept", () => {
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

  test("the greatest allowed number of users is kept from a file of usual size with more", () => {
    const users = Array.from({ length: 5_000 }, (_, index) => ({ name: `user-${index}`, verifier: "x" }));
    const read = readWith(users);
    expect(read?.sleep.users).toHaveLength(MAX_USERS);
    expect(read?.sleep.usersLeftOut).toBe(5_000 - MAX_USERS + 1);
  });

  test("a manifest that is too long for another reason is an error", () => {
    writeFileSync(path, `{"spec":"${"x".repeat(10_000_000)}"}`);
    expect(() => readManifest(path)).toThrow("cannot be understood");
  });
});
