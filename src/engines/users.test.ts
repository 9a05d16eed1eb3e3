// The users that the host keeps: how many, how large, and those of the spec among them.
import { expect, test } from "bun:test";
import { boundedUsers, leftOutSentence, MAX_USERS } from "./users.ts";

const APP = { name: "app", verifier: "of the spec" };
const usersOf = (count: number, verifier = "x") =>
  Array.from({ length: count }, (_, index) => ({ name: `user-${index}`, verifier }));

test("users within the bounds are kept as they are", () => {
  const users = [{ name: "app", verifier: "of the engine" }, ...usersOf(MAX_USERS - 1, "x".repeat(133))];
  expect(boundedUsers({ users, leftOut: 0 }, [APP])).toEqual({ users, leftOut: 0 });
});

test("a user with a long verifier or name is left out alone", () => {
  const users = [
    ...usersOf(2),
    { name: "large", verifier: "x".repeat(70_000_000) },
    { name: "x".repeat(70_000_000), verifier: "x" },
    { name: "last", verifier: "x" },
  ];
  const { users: kept, leftOut } = boundedUsers({ users, leftOut: 3 }, []);
  expect(kept.map(({ name }) => name)).toEqual(["user-0", "user-1", "last"]);
  expect(leftOut).toBe(5);
});

test("the users of the spec are kept when there are too many", () => {
  const users = [...usersOf(100_000), { name: "app", verifier: "of the engine" }];
  const { users: kept, leftOut } = boundedUsers({ users, leftOut: 0 }, [APP]);
  expect(kept).toHaveLength(MAX_USERS);
  expect(kept[0]).toEqual({ name: "app", verifier: "of the engine" });
  expect(leftOut).toBe(100_001 - MAX_USERS);
});

test("the total size of all users is bounded, whatever characters their names have", () => {
  const users = usersOf(MAX_USERS).map(({ name }) => ({
    name: name + "\u0001".repeat(50),
    verifier: "x".repeat(500),
  }));
  const { users: kept, leftOut } = boundedUsers({ users, leftOut: 0 }, []);
  expect(JSON.stringify(kept).length).toBeLessThan(1024 ** 2);
  expect(kept.length + leftOut).toBe(MAX_USERS);
});

test("a user of the spec that was left out is kept with the verifier of the spec", () => {
  const large = { name: "app", verifier: "x".repeat(1_000) };
  expect(boundedUsers({ users: [large], leftOut: 0 }, [APP])).toEqual({ users: [APP], leftOut: 1 });
  // A user that the engine does not know is left alone.
  expect(boundedUsers({ users: [], leftOut: 0 }, [APP])).toEqual({ users: [], leftOut: 0 });
});

test("the sentence for the customer says how many users are left out", () => {
  expect(leftOutSentence(0)).toBeNull();
  expect(leftOutSentence(1)).toStartWith("1 user is left out");
  expect(leftOutSentence(98_001)).toStartWith("98001 users are left out");
});
