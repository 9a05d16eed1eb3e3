// Which users instances get by their ports.
import { expect, test } from "bun:test";
import { BUILD_ACCOUNT, CONTROL_ACCOUNT, GATEWAY_ACCOUNT, isInstanceUid, uidOfPort } from "./accounts.ts";

/** All that `PILVI_PORT_RANGE` allows. */
const PORTS = Array.from({ length: 65_535 - 1_024 + 1 }, (_, index) => 1_024 + index);

test("an instance has the uid of its port, which no other port has", () => {
  expect(uidOfPort(20_000)).toBe(50_000);
  expect(new Set(PORTS.map(uidOfPort)).size).toBe(PORTS.length);
});

test("no port gives the uid of anybody else", () => {
  const uids = PORTS.map(uidOfPort);
  const [nobody, noUser, systemdFirst, systemdLast] = [65_534, 65_535, 61_184, 65_519];
  for (const uid of [nobody, noUser, CONTROL_ACCOUNT.uid, GATEWAY_ACCOUNT.uid, BUILD_ACCOUNT.uid])
    expect(uids).not.toContain(uid);
  expect(uids.filter((uid) => uid >= systemdFirst && uid <= systemdLast)).toEqual([]);
  // From there on users have uids for containers of their own.
  expect(uids.reduce((one, other) => Math.max(one, other))).toBeLessThan(100_000);
});

test("what belongs to anybody else is no instance's", () => {
  expect(PORTS.map(uidOfPort).every(isInstanceUid)).toBe(true);
  for (const uid of [0, 1_000, BUILD_ACCOUNT.uid, 61_184, 65_534, 65_535, 100_000])
    expect(isInstanceUid(uid)).toBe(false);
});
