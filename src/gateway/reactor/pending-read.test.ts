// Reads that wait for their bytes.
import { expect, test } from "bun:test";
import { StreamEnded } from "../stream.ts";
import { chunk, CHUNK_BYTES } from "./chunk.ts";
import { PendingRead } from "./pending-read.ts";

function put(read: PendingRead, text: string): boolean {
  expect(text.length).toBeLessThanOrEqual(read.room);
  chunk.set(Buffer.from(text));
  return read.take(text.length);
}

test("an exact read takes just its bytes, in pieces", async () => {
  const read = new PendingRead(7);
  expect(read.room).toBe(7);
  expect([put(read, "abc"), read.room]).toEqual([false, 4]);
  expect([put(read, "def"), read.room]).toEqual([false, 1]);
  expect(put(read, "g")).toBe(true);
  chunk.fill(0);
  expect(Buffer.from(await read.bytes).toString()).toBe("abcdefg");
});

test("a read that is larger than the chunk takes at most the chunk at once", () => {
  const read = new PendingRead(CHUNK_BYTES + 10);
  expect(read.room).toBe(CHUNK_BYTES);
  expect(read.take(CHUNK_BYTES)).toBe(false);
  expect(read.room).toBe(10);
});

test("a read without a length resolves with the first byte, in memory of its own", async () => {
  const read = new PendingRead(null);
  expect(put(read, "x")).toBe(true);
  chunk.fill(0);
  expect(Buffer.from(await read.bytes).toString()).toBe("x");
});

test("a failed read rejects with StreamEnded", async () => {
  const read = new PendingRead(3);
  read.fail();
  expect(await read.bytes.catch((error: unknown) => error)).toBeInstanceOf(StreamEnded);
});
