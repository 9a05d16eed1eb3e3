// The channels of one connection.
import { expect, test } from "bun:test";
import { Memberships } from "./memberships.ts";

test("channels are found by name, with the user of each", () => {
  const memberships = new Memberships();
  memberships.add("news", null);
  memberships.add("presence-room", "news");
  expect([memberships.has("news"), memberships.has("presence-room"), memberships.has("room")]).toEqual([
    true,
    true,
    false,
  ]);
  expect([memberships.get("news"), memberships.get("presence-room"), memberships.get("room")]).toEqual([
    null,
    "news",
    undefined,
  ]);
  expect(memberships.size).toBe(2);
});

test("channels are deleted one by one with the user of each, those in the middle too", () => {
  const memberships = new Memberships();
  memberships.add("news", null);
  for (const name of ["a", "b", "c"]) memberships.add(name, name.toUpperCase());
  expect(["b", "b", "news"].map((name) => memberships.delete(name))).toEqual(["B", undefined, null]);
  expect([memberships.get("a"), memberships.get("b"), memberships.get("c")]).toEqual(["A", undefined, "C"]);
});

test("all channels can be deleted while they are listed", () => {
  const memberships = new Memberships();
  const names = Array.from({ length: 1_000 }, (_, index) => `c${index}`);
  for (const name of names) memberships.add(name, null);
  const reported: string[] = [];
  for (const name of memberships.newestFirst()) {
    reported.push(name);
    memberships.delete(name);
  }
  expect(reported).toEqual(names.toReversed());
  expect(memberships.size).toBe(0);
});
