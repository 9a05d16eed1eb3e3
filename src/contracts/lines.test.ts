// Lines out of a stream of bytes, wherever it is cut, within a bound.
import { expect, test } from "bun:test";
import { readLines } from "./lines.ts";

function streamOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

test("lines are whole wherever they are cut, and half a line at the end is dropped", async () => {
  const bytes = new TextEncoder().encode("ä\nzwei\n\ndrei");
  const lines = await Array.fromAsync(
    readLines(streamOf(bytes.subarray(0, 1), bytes.subarray(1, 5), bytes.subarray(5))),
  );
  expect(lines).toEqual(["ä", "zwei", ""]);
});

test("a line that does not end costs no more memory than its bound", async () => {
  const chunk = new TextEncoder().encode("x".repeat(60));
  let reads = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      reads += 1;
      controller.enqueue(chunk);
    },
  });
  await expect(Array.fromAsync(readLines(endless, 100))).rejects.toThrow("longer than agreed");
  expect(reads).toBeLessThan(10);
});
