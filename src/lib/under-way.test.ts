// The bound on the requests of a client that are under way at once.
import { expect, test } from "bun:test";
import { UnderWay } from "./under-way.ts";

test("a client has no more requests under way than it may, and again as many when they have ended", () => {
  const underWay = new UnderWay(2);
  for (let round = 0; round < 3; round += 1) {
    const claims = Array.from({ length: 4 }, () => underWay.begin());
    expect(claims.map((claim) => claim.countFor("organization", "one"))).toEqual([true, true, false, false]);
    const other = underWay.begin();
    expect(other.countFor("organization", "other")).toBe(true);
    for (const claim of [...claims, other]) claim.end();
  }
});

test("a refused request takes no room, and a request that ends twice gives its room back once", () => {
  const underWay = new UnderWay(1);
  const [first, refused] = [underWay.begin(), underWay.begin()];
  expect(first.countFor("organization", "one")).toBe(true);
  expect(refused.countFor("organization", "one")).toBe(false);
  refused.end();
  expect(underWay.begin().countFor("organization", "one")).toBe(false);
  first.end();
  first.end();
  expect(underWay.begin().countFor("organization", "one")).toBe(true);
  expect(underWay.begin().countFor("organization", "one")).toBe(false);
});

test("credentials that read like the id of an organization take no room from it", () => {
  const underWay = new UnderWay(1);
  expect(underWay.begin().countFor("credentials", "one")).toBe(true);
  expect(underWay.begin().countFor("organization", "one")).toBe(true);
});

test("requests that count for nobody have no bound", () => {
  const underWay = new UnderWay(1);
  const counted = Array.from({ length: 3 }, () => underWay.begin().countFor("credentials", ""));
  expect(counted).toEqual([true, true, true]);
});
