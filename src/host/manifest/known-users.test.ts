// Who may log in is asked of the engine again and again, but not too often.
import { expect, test } from "bun:test";
import { KnownUsers } from "./known-users.ts";

/** An engine whose users get another verifier each time. */
function countedUsers() {
  const seen = { asked: 0, answers: 0 };
  const users = new KnownUsers({
    ask: () => Promise.resolve({ users: [{ name: "app", verifier: String(++seen.asked) }], leftOut: 0 }),
    own: () => [],
    onAnswer: () => seen.answers++,
    onLeftOut: () => undefined,
  });
  return { seen, users };
}

test("an engine is asked again after it was asked before", async () => {
  const { seen, users } = countedUsers();
  for (const verifier of ["1", "2", "3"]) {
    await users.refresh();
    expect(users.list).toEqual([{ name: "app", verifier }]);
  }
  expect(seen.answers).toBe(3);
});

test("all who ask at once have one answer", async () => {
  const { seen, users } = countedUsers();
  for (const asked of [1, 2]) {
    await Promise.all([users.refresh(), users.refresh(), users.refresh()]);
    expect(seen).toEqual({ asked, answers: asked });
  }
});

test("an engine that does not answer changes nothing, and whoever waits is told all the same", async () => {
  let answers = 0;
  const users = new KnownUsers({
    ask: () => Promise.resolve(null),
    own: () => [],
    onAnswer: () => answers++,
    onLeftOut: () => undefined,
  });
  users.set({ users: [{ name: "app", verifier: "kept" }], leftOut: 0 });
  await users.refresh();
  expect({ list: users.list, answers }).toEqual({ list: [{ name: "app", verifier: "kept" }], answers: 1 });
});

test("what an engine tells is bounded, whatever it tells, and the number of those left out is told", async () => {
  const told: number[] = [];
  const own = [{ name: "app", verifier: "of the spec" }];
  const large = { name: "large", verifier: "x".repeat(70_000_000) };
  const users = new KnownUsers({
    ask: () => Promise.resolve({ users: [...own, large], leftOut: 4 }),
    own: () => own,
    onAnswer: () => undefined,
    onLeftOut: (leftOut) => told.push(leftOut),
  });
  await users.refresh();
  expect(users.list).toEqual(own);
  expect(told).toEqual([5]);
});
