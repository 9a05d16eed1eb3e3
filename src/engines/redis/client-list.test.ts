// The list of clients is read however it is cut, and not read when it is too long.
import { expect, test } from "bun:test";
import { BeyondBounds } from "../engine-errors.ts";
import { ClientList } from "./client-list.ts";

function answerOf(...lines: string[]): Buffer {
  const list = lines.map((line) => `${line}\n`).join("");
  return Buffer.from(`+OK\r\n$${list.length}\r\n${list}\r\n`, "latin1");
}

test("each client is reported, wherever the answer is cut", () => {
  const answer = answerOf("id=1 name=a", "id=2 name=b", "id=3 name=");
  for (let size = 1; size <= answer.length; size++) {
    const lines: string[] = [];
    const list = new ClientList((line) => lines.push(line) > 3);
    let isDone = false;
    for (let at = 0; at < answer.length && !isDone; at += size)
      isDone = list.take(answer.subarray(at, at + size));
    expect({ isDone, lines }).toEqual({ isDone: true, lines: ["id=1 name=a", "id=2 name=b", "id=3 name="] });
  }
});

test("no client is reported after the last that was needed", () => {
  const lines: string[] = [];
  const list = new ClientList((line) => lines.push(line) === 2);
  expect(list.take(answerOf("1", "2", "3"))).toBe(true);
  expect(lines).toEqual(["1", "2"]);
});

test("a list that is too long is refused before any of it was read", () => {
  const list = new ClientList(() => false);
  expect(() => list.take(Buffer.from("+OK\r\n$100000000\r\n"))).toThrow(BeyondBounds);
});

test("a client whose line is too long is refused before its line ends", () => {
  const list = new ClientList(() => false);
  list.take(Buffer.from("+OK\r\n$16000000\r\n"));
  expect(() => list.take(Buffer.alloc(100_000, "x"))).toThrow(BeyondBounds);
});

test.each(["-NOAUTH no\r\n", "+OK\r\n-ERR no\r\n", "+OK\r\n*1\r\n", `+OK\r\n${"x".repeat(2_000)}`])(
  "an answer that is no list of clients is an error: %j",
  (answer) => {
    expect(() => new ClientList(() => false).take(Buffer.from(answer))).toThrow();
  },
);
