// The outbox: bytes that the kernel has not taken yet.
import { expect, test } from "bun:test";
import { toArrayBuffer } from "bun:ffi";
import { FAILED, WANT_WRITE } from "../io-result.ts";
import { Outbox } from "./outbox.ts";

/** A kernel whose calls take the given counts of bytes, or return a negative result code. */
function taking(answers: number[]) {
  const taken: Buffer[] = [];
  const transmit = (address: number, length: number) => {
    const answer = answers.shift() ?? WANT_WRITE;
    if (answer <= 0) return answer;
    const count = Math.min(answer, length);
    taken.push(Buffer.from(toArrayBuffer(address as never, 0, length).slice(0, count)));
    return count;
  };
  return { transmit, text: () => Buffer.concat(taken).toString() };
}

function filled(...parts: string[]): Outbox {
  const outbox = new Outbox();
  for (const part of parts) outbox.add(new Uint8Array(Buffer.from(part)));
  return outbox;
}

test("an outbox sends all parts in order, however little is taken at a time", () => {
  const outbox = filled("one", "two", "three");
  const kernel = taking([2, 1, WANT_WRITE, 3, 4]);
  expect([outbox.flush(kernel.transmit), outbox.isEmpty, kernel.text()]).toEqual([true, false, "one"]);
  expect([outbox.flush(kernel.transmit), outbox.isEmpty, kernel.text()]).toEqual([true, false, "onetwothre"]);
  const rest = taking([1]);
  expect([outbox.flush(rest.transmit), outbox.isEmpty, rest.text()]).toEqual([true, true, "e"]);
});

test("a part that was taken in part comes first in the next flush", () => {
  const outbox = filled("abcdef", "g");
  expect(outbox.flush(taking([4]).transmit)).toBe(true);
  const rest = taking([2, 1]);
  outbox.flush(rest.transmit);
  expect(rest.text()).toBe("efg");
});

test("a flush returns false when the connection is broken", () => {
  expect(filled("a").flush(taking([FAILED]).transmit)).toBe(false);
});

test("an outbox is empty at first and after it was cleared", () => {
  const outbox = filled("a");
  expect([new Outbox().isEmpty, outbox.isEmpty]).toEqual([true, false]);
  outbox.clear();
  expect(outbox.isEmpty).toBe(true);
});
