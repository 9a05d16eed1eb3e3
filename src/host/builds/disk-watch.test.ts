// How often the trees of a build are measured.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../lib/log.ts";
import { DiskWatch } from "./disk-watch.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "pilvi-disk-watch-"))));
afterEach(() => rmSync(root, { recursive: true }));

test("a walk that takes long is followed by a pause that is longer, while the room of the disk is still watched", async () => {
  let nowMs = 0;
  let [looks, walks] = [0, 0];
  const watch = new DiskWatch({
    // Asked for the room, and again by a walk, which takes this second.
    folders: () => {
      looks += 1;
      nowMs += 1_000;
      return [root];
    },
    // Less than any tree takes: each walk says so.
    maxBytes: -1,
    onFull: () => void (walks += 1),
    onLow: () => undefined,
    log: createLog("host", "silent"),
  });
  const clock = spyOn(performance, "now").mockImplementation(() => nowMs);
  try {
    await watch.look();
    expect([looks, walks]).toEqual([2, 1]);
    for (let look = 1; look < 10; look += 1) await watch.look();
    expect([looks, walks]).toEqual([11, 1]);
    await watch.look();
    expect([looks, walks]).toEqual([13, 2]);
    await watch.check();
    expect(walks).toBe(3);
  } finally {
    clock.mockRestore();
  }
});
