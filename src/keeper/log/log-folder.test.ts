// A log folder with more files than an engine makes: the log says so, and the keeper takes no memory for it.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freshFolder, removeFolder } from "../test-support.ts";
import { LogArchive } from "./log-archive.ts";
import { parseHistory } from "./segment.ts";
import { MemoryStore, SEGMENT_BYTES } from "./test-support.ts";
import { TrackedLog } from "./tracked-log.ts";

let folder: string;

beforeEach(() => (folder = freshFolder("log")));

afterEach(() => removeFolder(folder));

/** What a log over the folder says after a pass, with what it has stored. */
async function saidBy(): Promise<{ said: string | null; stored: number }> {
  const store = new MemoryStore();
  const log = new TrackedLog(new LogArchive(store, "archives/a/log/"));
  log.announce({ folder: join(folder, "log"), isAwake: true, segmentBytes: SEGMENT_BYTES });
  await log.turn();
  return { said: log.lastError, stored: store.objects.size };
}

test("a folder of more files than an engine makes is refused with a sentence", async () => {
  for (let count = 0; count <= 20_000; count += 1) writeFileSync(join(folder, "log", `f${count}`), "");
  expect(await saidBy()).toEqual({
    said: "The folder of the log has more than 20000 files, so it is not shipped.",
    stored: 0,
  });
});

test("a folder of more timelines than restores make is refused before any is stored", async () => {
  for (let timeline = 1; timeline <= 501; timeline += 1) {
    const name = `${timeline.toString(16).toUpperCase().padStart(8, "0")}.history`;
    writeFileSync(join(folder, "log", name), "");
  }
  mkdirSync(join(folder, "log", "archive_status"));
  expect(await saidBy()).toEqual({
    said: "The log has more than 500 timelines, so it is not shipped.",
    stored: 0,
  });
});

test("a history of too many ancestors is refused", () => {
  const lines = Array.from({ length: 501 }, (_, index) => `${index + 1}\t0/3000000\tno recovery target\n`);
  expect(parseHistory(lines.slice(0, 500).join(""))).toHaveLength(500);
  expect(() => parseHistory(lines.join(""))).toThrow("too long");
});
