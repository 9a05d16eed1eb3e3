// The uids that instances get.
import { describe, expect, test } from "bun:test";
import {
  allotUid,
  BUILD_ACCOUNT,
  CONTROL_ACCOUNT,
  GATEWAY_ACCOUNT,
  isInstanceUid,
  KEEPER_ACCOUNT,
  uidOf,
  uidOfPort,
} from "./accounts.ts";

/** All ports that `PILVI_PORT_RANGE` allows. */
const PORTS = Array.from({ length: 65_535 - 1_024 + 1 }, (_, index) => 1_024 + index);

test("an instance has the uid of its port, which no other port has", () => {
  expect(uidOfPort(20_000)).toBe(50_000);
  expect(new Set(PORTS.map(uidOfPort)).size).toBe(PORTS.length);
});

test("no port gives a uid of the system or of Pilvi's own processes", () => {
  const uids = PORTS.map(uidOfPort);
  const [nobody, noUser, systemdFirst, systemdLast] = [65_534, 65_535, 61_184, 65_519];
  const own = [CONTROL_ACCOUNT, GATEWAY_ACCOUNT, BUILD_ACCOUNT, KEEPER_ACCOUNT].map(({ uid }) => uid);
  for (const uid of [nobody, noUser, ...own]) expect(uids).not.toContain(uid);
  expect(uids.filter((uid) => uid >= systemdFirst && uid <= systemdLast)).toEqual([]);
  // Higher uids belong to containers of users.
  expect(uids.reduce((one, other) => Math.max(one, other))).toBeLessThan(100_000);
});

test("a uid of the system, of a user or of Pilvi's own processes is not an instance's", () => {
  expect(PORTS.map(uidOfPort).every(isInstanceUid)).toBe(true);
  for (const uid of [0, 1_000, BUILD_ACCOUNT.uid, KEEPER_ACCOUNT.uid, 61_184, 65_534, 65_535, 100_000])
    expect(isInstanceUid(uid)).toBe(false);
});

const exposed = (port: number | null) => ({
  exposure: { port, scope: "loopback", through: "engine" } as const,
});
const nobody = new Set<number>();

describe("a new instance", () => {
  test("gets the uid of its port, which another Pilvi on the machine does not give to another port", () => {
    expect(allotUid(exposed(20_000), nobody, nobody)).toBe(50_000);
  });

  test("gets another uid when an instance or the system has the uid of its port", () => {
    const other = allotUid(exposed(20_000), new Set([50_000]), nobody);
    expect(other).not.toBe(50_000);
    expect(isInstanceUid(other)).toBe(true);
    const third = allotUid(exposed(20_000), new Set([50_000]), new Set([other]));
    expect([50_000, other]).not.toContain(third);
    expect(isInstanceUid(third)).toBe(true);
  });

  test("without a port shares its uid with no other", () => {
    const first = allotUid(exposed(null), nobody, nobody);
    const second = allotUid(exposed(null), new Set([first]), nobody);
    expect(second).not.toBe(first);
    expect(isInstanceUid(second)).toBe(true);
  });

  test("is refused when every uid is taken", () => {
    const all = new Set(Array.from({ length: 100_000 }, (_, uid) => uid));
    expect(() => allotUid(exposed(20_000), all, nobody)).toThrow("No user is left");
  });
});

test("an instance of an earlier release keeps the uid of its port", () => {
  expect(uidOf({ spec: exposed(20_000), uid: null })).toBe(50_000);
  expect(uidOf({ spec: exposed(null), uid: null })).toBe(30_002);
  expect(uidOf({ spec: exposed(20_000), uid: 60_000 })).toBe(60_000);
});
