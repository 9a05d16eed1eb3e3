// Segments in the folder of a replica: named in order, in place in one step, and never through a link.
import { afterAll, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { putSegment, segmentAfter } from "./segment-file.ts";

const MIB = 1024 ** 2;
const NAME = "000000010000000000000003";

const root = mkdtempSync(join(tmpdir(), "pilvi-segments-"));
const folder = join(root, "log");
const place = { folder, name: NAME, aside: join(root, "segment"), account: null };
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});

async function* content(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield new TextEncoder().encode(text);
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield* content("half");
  throw new Error("the keeper has ended");
}

test.each([
  ["000000010000000000000003", 4, "000000010000000000000004"],
  ["0000000100000000000003FF", 4, "000000010000000100000000"],
  ["0000000100000000000000FF", 16, "000000010000000100000000"],
  ["0000000A0000000900000000", 1024, "0000000A0000000900000001"],
  ["0000000A0000000900000003", 1024, "0000000A0000000A00000000"],
])("after %s of %d MiB comes %s", (name, size, next) => expect(segmentAfter(name, size * MIB)).toBe(next));

test.each([true, false])("a segment replaces its former part, durable: %p", async (isDurable) => {
  writeFileSync(join(folder, NAME), "former");
  await putSegment(place, content("a ", "segment"), isDurable);
  expect(readFileSync(join(folder, NAME), "utf8")).toBe("a segment");
  expect(readdirSync(root)).toEqual(["log"]);
});

test("a segment that breaks off leaves the former part, and the next attempt succeeds", async () => {
  writeFileSync(join(folder, NAME), "former");
  await expect(putSegment(place, broken(), true)).rejects.toThrow("the keeper has ended");
  expect(readFileSync(join(folder, NAME), "utf8")).toBe("former");
  await putSegment(place, content("whole"), true);
  expect(readFileSync(join(folder, NAME), "utf8")).toBe("whole");
});

test("a link in the place of the folder is not followed", async () => {
  const elsewhere = join(root, "elsewhere");
  mkdirSync(elsewhere);
  rmSync(folder, { recursive: true });
  symlinkSync(elsewhere, folder);
  await expect(putSegment(place, content("segment"), true)).rejects.toThrow();
  expect(readdirSync(elsewhere)).toEqual([]);
  rmSync(folder);
  rmSync(elsewhere, { recursive: true });
});

test("a link in the place of the segment is replaced", async () => {
  const other = join(root, "other");
  writeFileSync(other, "of another");
  symlinkSync(other, join(folder, NAME));
  await putSegment(place, content("segment"), true);
  expect([readFileSync(other, "utf8"), readFileSync(join(folder, NAME), "utf8")]).toEqual([
    "of another",
    "segment",
  ]);
  rmSync(other);
  expect(existsSync(place.aside)).toBe(false);
});
