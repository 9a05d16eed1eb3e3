// Who may log in is asked of the engine again and again, but not too often.
import { expect, test } from "bun:test";
import { KnownUsers } from "./known-users.ts";

/** An engine whose users get another verifier each time. */
function countedUsers() {
  const seen = { asked: 0, answers: 0 };
  const ask = () => Promise.resolve([{ name: "app", verifier: String(++seen.asked) }]);
  return { seen, users: new KnownUsers(ask, () => seen.answers++) };
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
  const users = new KnownUsers(
    () => Promise.resolve(null),
    () => answers++,
  );
  users.set([{ name: "app", verifier: "kept" }]);
  await users.refresh();
  expect({ list: users.list, answers }).toEqual({ list: [{ name: "app", verifier: "kept" }], answers: 1 });
});
