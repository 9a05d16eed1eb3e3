// The warm-up runs the code that clients will run, and leaves nothing behind.
import { expect, test } from "bun:test";
import type { Log } from "../../lib/line-log.ts";
import { warmUp } from "./warm-up.ts";

test("each client of the warm-up is greeted and subscribed, and no fault is logged", () => {
  const lines: string[] = [];
  const note = (_: Record<string, unknown>, message: string) => void lines.push(message);
  const log: Log = { info: note, warn: note, error: note, child: () => log };
  // The greeting, the answer to the subscription, and the counts.
  expect(warmUp(log)).toBeGreaterThan(2 * 500);
  expect(lines).toEqual([]);
});
