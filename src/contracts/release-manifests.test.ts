// Manifests that releases wrote are read completely.
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { manifestFrom, manifestText } from "./manifest.ts";

const FIXTURES = resolve(import.meta.dir, "../../tests/fixtures");
const ENDING = ".manifest.json";

const releases = readdirSync(FIXTURES, { withFileTypes: true }).filter((entry) => entry.isDirectory());

describe.each(releases.map(({ name }) => name))("%s", (release) => {
  const names = readdirSync(join(FIXTURES, release)).filter((name) => name.endsWith(ENDING));

  test("left a manifest of every kind of spec, awake and asleep", () => {
    expect(names.map((name) => name.slice(0, -ENDING.length)).sort()).toEqual([
      "cache-hibernating.asleep",
      "cache-hibernating.awake",
      "cache.awake",
      "mysql.asleep",
      "mysql.awake",
      "postgres.asleep",
      "postgres.awake",
      "realtime.awake",
      "redis.awake",
      "store.awake",
    ]);
  });

  test.each(names)("%s is read whole, and again after it was written in today's format", async (name) => {
    const text = await Bun.file(join(FIXTURES, release, name)).text();
    const manifest = manifestFrom(text);
    // That release kept the state in four former members.
    const { isReplaced, isSettled, sleep, ...rest } = JSON.parse(text.replace('"wish": "present",', ""));
    const { isAsleep, ...record } = sleep;
    expect(isAsleep).toBe(name.includes(".asleep"));
    if (isAsleep) expect(manifest.state).toBe(isSettled ? "asleepApplied" : "asleep");
    else expect(manifest.state).toBe(isReplaced ? "changed" : "awake");
    expect(manifestFrom(manifestText(manifest))).toEqual(manifest);
    expect(leavesOf(manifest)).toEqual(expect.arrayContaining(leavesOf({ ...rest, sleep: record })));
  });
});

/** All values, whatever the names of their members are today. */
function leavesOf(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
}
