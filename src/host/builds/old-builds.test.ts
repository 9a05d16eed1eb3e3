// Which builds are deleted.
import { expect, test } from "bun:test";
import { BUILD_VERSION, type Build } from "../../contracts/builds.ts";
import { MAX_KEPT_BUILDS, oldBuilds } from "./old-builds.ts";

const NOW_MS = Date.parse("2026-03-15T08:00:00Z");
const DAY_MS = 86_400_000;

function build(id: string, daysAgo: number | null, environment = "env-1"): Build {
  const at = new Date(NOW_MS - (daysAgo ?? 0) * DAY_MS).toISOString();
  const ended = daysAgo === null ? { state: "running", endedAt: null } : { state: "succeeded", endedAt: at };
  const common = { version: BUILD_VERSION, queuedAt: at, startedAt: at, steps: [], failure: null };
  return { ...common, id, environment, isolation: null, ...ended } as Build;
}

test("builds of more than a year ago are old, and those that run never", () => {
  const builds = [build("a", 400), build("b", 300), build("c", null), build("d", 0)];
  expect(oldBuilds(builds, NOW_MS)).toEqual(["a"]);
});

test("of an environment with many builds, the latest are kept, and those of others stay", () => {
  const many = Array.from({ length: MAX_KEPT_BUILDS + 2 }, (_, index) => build(`b-${index}`, index / 100));
  const found = oldBuilds([...many, build("other", 200, "env-2")], NOW_MS);
  expect(found.toSorted()).toEqual([`b-${MAX_KEPT_BUILDS}`, `b-${MAX_KEPT_BUILDS + 1}`]);
});
