// The input buffer of a client: its bytes in order, and the memory that it keeps for them.
import { expect, test } from "bun:test";
import { InputBuffer } from "./input-buffer.ts";

const text = (buffer: InputBuffer) => buffer.view().toString();
const memoryOf = (buffer: InputBuffer) => buffer.view().buffer.byteLength;

test("bytes are kept in order, whatever is dropped between them", () => {
  const buffer = new InputBuffer();
  let expected = "";
  for (let round = 0; round < 2_000; round++) {
    const piece = `${round},`.repeat(1 + (round % 7));
    buffer.append(Buffer.from(piece));
    expected += piece;
    const count = Math.min(expected.length, (round * 7) % 40);
    buffer.drop(count);
    expected = expected.slice(count);
    expect([buffer.length, text(buffer)]).toEqual([expected.length, expected]);
  }
  expect(Buffer.from(buffer.take()).toString()).toBe(expected);
  expect(buffer.length).toBe(0);
});

test("a few bytes that are left of many keep no large memory", () => {
  const buffer = new InputBuffer();
  buffer.append(Buffer.alloc(65_536, "x"));
  buffer.drop(65_530);
  expect([text(buffer), memoryOf(buffer) <= 24]).toEqual(["xxxxxx", true]);
  buffer.append(Buffer.from("yy"));
  expect(text(buffer)).toBe("xxxxxxyy");
});

test("a few bytes of a large arrival keep no large memory", () => {
  const buffer = new InputBuffer();
  buffer.append(Buffer.from(`${"x".repeat(65_530)}yyyyyy`).subarray(65_530));
  expect([text(buffer), memoryOf(buffer) <= 24]).toEqual(["yyyyyy", true]);
});

test("bytes that arrive singly take twice their memory at most", () => {
  const buffer = new InputBuffer();
  for (let count = 1; count <= 1_000; count++) {
    buffer.append(Uint8Array.of(120));
    expect(memoryOf(buffer)).toBeLessThanOrEqual(2 * count);
  }
});
