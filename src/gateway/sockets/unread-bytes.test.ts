// Unread bytes: those that have arrived and that nobody has taken yet.
import { expect, test } from "bun:test";
import { UnreadBytes } from "./unread-bytes.ts";

function filled(...parts: string[]): UnreadBytes {
  const unread = new UnreadBytes();
  for (const part of parts) unread.add(new Uint8Array(Buffer.from(part)));
  return unread;
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

test("an exact count of bytes is taken across parts, in order", () => {
  const unread = filled("one", "two", "three");
  expect([text(unread.takeExactly(2)), text(unread.takeExactly(5)), unread.size]).toEqual(["on", "etwot", 4]);
  expect([text(unread.takeExactly(4)), unread.size]).toEqual(["hree", 0]);
});

test("a take gets no more than one part and no more than the most", () => {
  const unread = filled("abcdef", "g");
  expect(["", "", "", ""].map(() => text(unread.take(4)))).toEqual(["abcd", "ef", "g", ""]);
});

test("a peek gets all bytes and leaves them", () => {
  const unread = filled("ab", "c");
  expect([text(unread.peek()), unread.size, text(unread.takeExactly(3))]).toEqual(["abc", 3, "abc"]);
  expect(new UnreadBytes().peek()).toHaveLength(0);
});

test("no byte is left after a clear", () => {
  const unread = filled("ab");
  unread.clear();
  expect([unread.size, unread.take(1).length]).toEqual([0, 0]);
});
