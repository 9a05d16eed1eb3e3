// Questions for the users of an instance: an answer is never older than its question.
import { expect, test } from "bun:test";
import { ManualTimers } from "../../../tests/support/gateway/manual-timers.ts";
import { UsersRefresh } from "./users-refresh.ts";

function stage(known = 1) {
  let nowMs = 0;
  let questions = 0;
  const timers = new ManualTimers(() => nowMs);
  const users = new UsersRefresh(
    timers,
    () => known,
    (question) => {
      questions = question;
    },
  );
  const received: string[] = [];
  const ask = (name: string) => void users.ask().then(() => received.push(name));
  return {
    users,
    /** The host answers the latest question. */
    answer: () => users.answered(questions),
    ask,
    received,
    questions: () => questions,
    /** Advances the time and settles the promises that are due. */
    async pass(ms: number): Promise<void> {
      nowMs += ms;
      timers.run();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("a question asked while another is with the host gets the answer to the next one", async () => {
  const { answer, ask, received, questions, pass } = stage();
  ask("first");
  ask("second");
  ask("third");
  expect(questions()).toBe(1);
  answer();
  await pass(0);
  expect([received, questions()]).toEqual([["first"], 2]);
  answer();
  await pass(0);
  expect([received, questions()]).toEqual([["first", "second", "third"], 2]);
});

test("a question asked while another waits for its turn shares that one", async () => {
  const { answer, ask, received, questions, pass } = stage();
  for (let count = 0; count < 10; count++) {
    ask("early");
    answer();
    await pass(0);
  }
  ask("one");
  ask("other");
  expect(questions()).toBe(10);
  await pass(200);
  expect(questions()).toBe(11);
  answer();
  await pass(0);
  expect(received.slice(10)).toEqual(["one", "other"]);
});

test("the users of an instance with many are asked for more seldom", async () => {
  const { answer, ask, questions, pass } = stage(2_000);
  for (let count = 0; count < 2; count++) {
    ask("one");
    answer();
    await pass(0);
  }
  expect(questions()).toBe(2);
  ask("one");
  await pass(999);
  expect(questions()).toBe(2);
  await pass(1);
  expect(questions()).toBe(3);
});

test("a question that the host does not answer ends after two seconds", async () => {
  const { ask, received, pass } = stage();
  ask("one");
  await pass(1_999);
  expect(received).toEqual([]);
  await pass(1);
  expect(received).toEqual(["one"]);
});

test("the late answer to a question whose time was over does not answer the next one", async () => {
  const { users, answer, ask, received, questions, pass } = stage();
  ask("early");
  await pass(2_000);
  ask("late");
  expect([received, questions()]).toEqual([["early"], 2]);
  users.answered(1);
  await pass(0);
  expect(received).toEqual(["early"]);
  answer();
  await pass(0);
  expect(received).toEqual(["early", "late"]);
});
