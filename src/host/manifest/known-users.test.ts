// The engine's users are read again and again, but not too often.
import { expect, test } from "bun:test";
import { KnownUsers } from "./known-users.ts";

/** An engine whose users get another verifier at each read. */
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

test("the engine's users are read again after an earlier read", async () => {
  const { seen, users } = countedUsers();
  for (const verifier of ["1", "2", "3"]) {
    await users.refresh();
    expect(users.list).toEqual([{ name: "app", verifier }]);
  }
  expect(seen.answers).toBe(3);
});

test("a read answers the latest question from before its beginning, and no question twice", async () => {
  const answered: (number | undefined)[] = [];
  const begun = Promise.withResolvers<void>();
  const first = Promise.withResolvers<null>();
  let reads = 0;
  const users = new KnownUsers({
    ask() {
      begun.resolve();
      reads += 1;
      return reads === 1 ? first.promise : Promise.resolve(null);
    },
    own: () => [],
    onAnswer: (question) => answered.push(question),
    onLeftOut: () => undefined,
  });
  const both = [users.refresh(1), users.refresh(2), users.refresh()];
  await begun.promise;
  await users.refresh(3);
  first.resolve(null);
  await Promise.all(both);
  await users.refresh();
  expect(answered).toEqual([3, 2, undefined]);
});

/** Users whose first read has begun, and is not answered yet. Each read has a verifier of its own. */
async function slowFirstRead() {
  const slow = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  let reads = 0;
  const users = new KnownUsers({
    async ask() {
      const verifier = `read ${++reads}`;
      begun.resolve();
      if (reads === 1) await slow.promise;
      return { users: [{ name: "app", verifier }], leftOut: 0 };
    },
    own: () => [],
    onAnswer: () => undefined,
    onLeftOut: () => undefined,
  });
  const first = users.refresh();
  await begun.promise;
  const answer = async () => {
    slow.resolve();
    await first;
  };
  return { users, answer };
}

test("a read that takes long does not undo a later read", async () => {
  const { users, answer } = await slowFirstRead();
  await users.refresh();
  await answer();
  expect(users.list).toEqual([{ name: "app", verifier: "read 2" }]);
});

test("a read that takes long does not undo what another source says meanwhile, and a later read does", async () => {
  const { users, answer } = await slowFirstRead();
  users.set({ users: [{ name: "app", verifier: "of the spec" }], leftOut: 0 });
  await answer();
  expect(users.list).toEqual([{ name: "app", verifier: "of the spec" }]);
  await users.refresh();
  expect(users.list).toEqual([{ name: "app", verifier: "read 2" }]);
});

test("concurrent refreshes share one read and one answer", async () => {
  const { seen, users } = countedUsers();
  for (const asked of [1, 2]) {
    await Promise.all([users.refresh(), users.refresh(), users.refresh()]);
    expect(seen).toEqual({ asked, answers: asked });
  }
});

test("an engine that does not answer leaves the known users as they are, and the waiting caller is answered", async () => {
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

test("the users that an engine reports are bounded, and the number left out is reported", async () => {
  const reported: number[] = [];
  const own = [{ name: "app", verifier: "of the spec" }];
  const large = { name: "large", verifier: "x".repeat(70_000_000) };
  const users = new KnownUsers({
    ask: () => Promise.resolve({ users: [...own, large], leftOut: 4 }),
    own: () => own,
    onAnswer: () => undefined,
    onLeftOut: (leftOut) => reported.push(leftOut),
  });
  await users.refresh();
  expect(users.list).toEqual(own);
  expect(reported).toEqual([5]);
});
