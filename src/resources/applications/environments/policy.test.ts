// The policy of the edge that comes of the settings of an environment.
import { describe, expect, test } from "bun:test";
import { USUAL_POLICY, USUAL_TIMEOUT_SECONDS } from "../../../engines/haproxy/policy.ts";
import { policyOf } from "./policy.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";

function versionOf(settings: object, instances: string[]): string | null {
  return policyOf({ ...DEFAULT_SETTINGS, ...settings }, instances).cacheVersion;
}

function isUnderAttack(settings: object): boolean {
  return policyOf({ ...DEFAULT_SETTINGS, ...settings }, []).isUnderAttack;
}

test("the policy and the timeout of a new environment are the usual, whose rules cost least", () => {
  const { cacheVersion: _, ...policy } = policyOf(DEFAULT_SETTINGS, []);
  expect(USUAL_POLICY).toMatchObject(policy);
  expect(USUAL_TIMEOUT_SECONDS).toBe(DEFAULT_SETTINGS.timeout);
});

describe("the version of the edge cache", () => {
  test("is the same for the same instances in any order", () => {
    expect(versionOf({}, ["a", "b"])).toMatch(/^[0-9a-f]{16}$/);
    expect(versionOf({}, ["b", "a"])).toBe(versionOf({}, ["a", "b"]));
  });

  test("is another for other instances and after a purge, and absent without a cache", () => {
    const versions = [
      versionOf({}, ["a"]),
      versionOf({}, ["a", "b"]),
      versionOf({ edge_cache_purge: "one" }, ["a"]),
      versionOf({ edge_cache_purge: "two" }, ["a"]),
    ];
    expect(new Set(versions).size).toBe(versions.length);
    expect(versionOf({ cache_strategy: "bypass" }, ["a"])).toBeNull();
  });

  test("outlives a deployment that does not purge, and no purge", () => {
    const kept = { uses_purge_edge_cache_on_deploy: false };
    expect(versionOf(kept, ["a"])).toBe(versionOf(kept, ["b"]));
    expect(versionOf({ ...kept, edge_cache_purge: "one" }, ["a"])).not.toBe(versionOf(kept, ["a"]));
    expect(versionOf({ uses_purge_edge_cache_on_deploy: true }, ["a"])).toBe(versionOf({}, ["a"]));
  });
});

test("an environment is under attack from the moment when that was switched on, and not without one", () => {
  expect(isUnderAttack({ under_attack_mode_started_at: "2026-11-26T20:43:06.000Z" })).toBe(true);
  expect(isUnderAttack({ under_attack_mode_started_at: null })).toBe(false);
  expect(isUnderAttack({})).toBe(false);
});
