// How much of a segment is read for the entries after a position.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Chain } from "./chain.ts";
import type { StoredEntry } from "./entry.ts";
import { SegmentReader } from "./segment-reader.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-segments-"));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function entry(m: string): StoredEntry {
  return { t: 1, l: "info", y: "application", m };
}

async function messages(reader: SegmentReader): Promise<string[]> {
  const found: string[] = [];
  for (let next = await reader.peek(); next !== null; next = await reader.peek()) {
    found.push(next.entry.m);
    reader.take();
  }
  return found;
}

test("a reader skips the bytes before its position", async () => {
  const path = join(folder, "a.1.1.log");
  // No machine has the memory for all of it.
  const offset = 2 ** 38;
  writeFileSync(path, "");
  truncateSync(path, offset);
  appendFileSync(path, `${JSON.stringify(entry("one"))}\n${JSON.stringify(entry("two"))}\n`);
  const { size } = statSync(path);
  const segments = () => [{ sequence: 1, startMs: 1, path, isCompressed: false, bytes: size }];
  const chain = { segments, end: { sequence: 1, offset: size } };
  expect(await messages(new SegmentReader(chain, { sequence: 1, offset }))).toEqual(["one", "two"]);
});

test("a reader returns entries of any length whole, and leaves out an unfinished entry", async () => {
  const chain = new Chain(folder, "a", () => {});
  const lengths = [1, 300_000, 20, 262_144, 1_000_000, 5];
  chain.append(lengths.map((length) => entry("x".repeat(length))));
  const [{ path = "" } = {}] = chain.segments();
  appendFileSync(path, JSON.stringify(entry("not")).slice(0, 20));
  const found = await messages(new SegmentReader(chain, null));
  expect(found.map(({ length }) => length)).toEqual(lengths);
});

test("a segment that is compressed while it is read goes on where it was", async () => {
  const chain = new Chain(folder, "a", () => {});
  const long = "x".repeat(100_000);
  const all = Array.from({ length: 100 }, (_, index) => `${index} ${long}`);
  chain.append(all.map(entry));
  const reader = new SegmentReader(chain, null);
  expect((await reader.peek())?.entry.m).toBe(all[0]);
  reader.take();
  await chain.compress();
  expect(chain.segments()[0]?.isCompressed).toBe(true);
  expect(await messages(reader)).toEqual(all.slice(1));
});
