// Judges engines as they come from upstream, from packages and from the system.
import { expect, test } from "bun:test";
import { foreignEngines } from "../../contracts/engine-names.ts";
import { programOf } from "../registry.ts";
import { verdictOn, type JudgedEngine } from "./verdict.ts";

const TODAY = new Date("2026-11-22");
const FINE = { warning: null, isUnsafe: false };

function verdict(engine: Omit<JudgedEngine, "origin"> & Partial<JudgedEngine>, today = TODAY) {
  return verdictOn({ origin: "store", ...engine }, today);
}

function redis(version: string) {
  return verdict({ name: "redis", version: "7.0.15", package: { version, release: "bookworm" } });
}

function mariadb(version: string, release: string) {
  const [, upstream = ""] = /:([\d.]+)-/.exec(version) ?? [];
  return verdict({ name: "mariadb", version: upstream, package: { version, release } });
}

test("an engine below the lowest version without known holes is unsafe", () => {
  const { warning, isUnsafe } = verdict({ name: "valkey", version: "8.0.1" });
  expect(warning).toBe("Valkey 8.0.1 lacks security fixes of 8.0.11.");
  expect(isUnsafe).toBe(true);
  expect(verdict({ name: "valkey", version: "8.0.11" })).toEqual(FINE);
});

test("a package is judged by its own version, since distributions patch in place", () => {
  expect(redis("5:7.0.15-1~deb12u10")).toEqual(FINE);
  expect(redis("5:7.0.15-1~deb12u9")).toMatchObject({
    warning: expect.stringContaining("lacks security fixes of 5:7.0.15-1~deb12u10"),
    isUnsafe: true,
  });
});

test("a package of MariaDB below the lowest version is replaced", () => {
  expect(mariadb("1:10.11.19-0+deb12u1", "bookworm")).toEqual(FINE);
  expect(mariadb("1:11.8.6-0+deb13u1", "trixie")).toEqual(FINE);
  expect(mariadb("1:10.11.14-0+deb12u2", "bookworm").isUnsafe).toBe(true);
  expect(mariadb("1:11.8.3-0+deb13u1", "trixie").isUnsafe).toBe(true);
});

test("a package gets fixes as long as its release does", () => {
  const made = { version: "8.1.1+dfsg1-3+deb13u3", release: "trixie" };
  expect(verdict({ name: "valkey", version: "8.1.1", package: made })).toEqual(FINE);
  const later = verdict({ name: "valkey", version: "8.1.1", package: made }, new Date("2030-07-01"));
  expect(later.warning).toContain("gets no security fixes any more since 2030-06-30");
});

test("a program of the system, or of a release that is not known, may have been patched", () => {
  const may = { warning: expect.stringContaining("unless the distribution has patched it"), isUnsafe: false };
  expect(verdict({ name: "redis", version: "7.0.15", origin: "system" })).toEqual(may);
  const noble = { version: "7.2.5+dfsg1-2ubuntu4", release: "noble" };
  expect(verdict({ name: "valkey", version: "7.2.5", package: noble })).toEqual(may);
});

test("a version gets fixes until the last day of its support", () => {
  const postgres = { name: "postgres", version: "14.25" } as const;
  expect(verdict(postgres, new Date("2026-11-12T23:00:00Z"))).toEqual(FINE);
  expect(verdict(postgres, new Date("2026-11-13"))).toEqual({
    warning: "Postgres 14.25 gets no security fixes any more since 2026-11-12.",
    isUnsafe: true,
  });
});

test("a release line newer than all known lines is fine, and an unknown line in between has lost its support", () => {
  expect(verdict({ name: "valkey", version: "10.0.0" })).toEqual(FINE);
  expect(verdict({ name: "redis", version: "6.0.16" }).isUnsafe).toBe(true);
});

test("the floors of each engine begin with the newest line, and each lowest version belongs to its line", () => {
  const byNumber = new Intl.Collator("en", { numeric: true });
  for (const { floors, oldestVersion } of foreignEngines.map(programOf)) {
    expect(floors.at(-1)?.line).toBe(oldestVersion);
    for (const [index, floor] of floors.entries()) {
      const next = floors[index + 1];
      if (next !== undefined) expect(byNumber.compare(floor.line, next.line)).toBeGreaterThan(0);
      if (floor.lowest !== null) expect(floor.lowest.startsWith(`${floor.line}.`)).toBe(true);
    }
  }
});
