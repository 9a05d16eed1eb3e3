// The outbox: bytes that the kernel has not taken yet.
import { expect, test } from "bun:test";
import { Outbox } from "./outbox.ts";

/** A kernel whose calls take the given counts of bytes, or return -1. */
function taking(answers: number[]) {
  const taken: Uint8Array[] = [];
  const transmit = (bytes: Uint8Array) => {
    const answer = answers.shift() ?? 0;
    if (answer < 0) return answer;
    const count = Math.min(answer, bytes.length);
    taken.push(bytes.subarray(0, count));
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
  const kernel = taking([3, 1, 3, 5]);
  expect([outbox.flush(kernel.transmit), outbox.isEmpty, kernel.text()]).toEqual([true, false, "onet"]);
  expect([outbox.flush(kernel.transmit), outbox.isEmpty, kernel.text()]).toEqual([true, true, "onetwothree"]);
});

test("a flush returns false when the connection is broken", () => {
  expect(filled("a").flush(taking([-1]).transmit)).toBe(false);
});

test("an outbox is empty at first and after it was cleared", () => {
  const outbox = filled("a");
  expect([new Outbox().isEmpty, outbox.isEmpty]).toEqual([true, false]);
  outbox.clear();
  expect(outbox.isEmpty).toBe(true);
});
