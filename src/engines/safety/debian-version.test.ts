// Compares versions of packages with the order that dpkg(1) and Debian's policy give.
import { expect, test } from "bun:test";
import { compareDebianVersions } from "./debian-version.ts";

test.each([
  ["5:7.0.15-1~deb12u9", "5:7.0.15-1~deb12u10"],
  ["8.1.1+dfsg1-3", "8.1.1+dfsg1-3+deb13u1"],
  ["8.1.1+dfsg1-3+deb13u2", "8.1.1+dfsg1-3+deb13u3"],
  ["8.0.1+dfsg1-1~bpo12+1", "8.0.1+dfsg1-1"],
  ["7.0.15-1", "5:6.0"],
  ["1:10.11.9-0+deb12u1", "1:10.11.19-0+deb12u1"],
  ["1.0~rc1", "1.0"],
  ["1.0", "1.0a"],
  ["1.0a", "1.0+"],
  ["1.0", "1.0-1"],
])("%s is older than %s", (older, newer) => {
  expect(compareDebianVersions(older, newer)).toBeLessThan(0);
  expect(compareDebianVersions(newer, older)).toBeGreaterThan(0);
});

test("a version is as old as itself, with and without the leading zero of its epoch", () => {
  expect(compareDebianVersions("5:7.0.15-1~deb12u10", "5:7.0.15-1~deb12u10")).toBe(0);
  expect(compareDebianVersions("0:1.0-1", "1.0-1")).toBe(0);
  expect(compareDebianVersions("1.0-01", "1.0-1")).toBe(0);
});
