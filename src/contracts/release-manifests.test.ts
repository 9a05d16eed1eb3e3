// Manifests that releases wrote are read completely.
import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { manifestFrom, manifestText, type PersistedState } from "./manifest.ts";

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
    expect(manifest.state).toStartWith(name.includes(".asleep") ? "asleep" : "awake");
    expect(manifestFrom(manifestText(manifest))).toEqual(manifest);
    const { format, ...members } = JSON.parse(text);
    if (format === 2) return expect(manifest).toEqual(members);
    const { state, kept } = fromFormat1(text);
    expect(manifest.state).toBe(state);
    expect(leavesOf(manifest)).toEqual(expect.arrayContaining(leavesOf(kept)));
  });
});

/** The state of a manifest of format 1, which had it in four members, and all else that is kept of it. */
function fromFormat1(text: string): { state: PersistedState; kept: unknown } {
  const { isReplaced, isSettled, sleep, ...rest } = JSON.parse(text.replace('"wish": "present",', ""));
  const { isAsleep, ...record } = sleep;
  const kept = { ...rest, sleep: record };
  if (isAsleep) return { state: isSettled ? "asleepApplied" : "asleep", kept };
  return { state: isReplaced ? "changed" : "awake", kept };
}

/** All values, whatever the names of their members are today. */
function leavesOf(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(leavesOf) : [value];
}
