// What is read of an instance's manifest, whatever a power cut left of it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noteManifest, readManifest, writeManifest } from "./manifest.ts";
import { sleepySpec } from "./test-support.ts";
import { manifestFor } from "./wishes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pilvi-manifest-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const manifest = manifestFor(sleepySpec("cache"), { name: "valkey", major: "8" }, null);

test("one that was left empty is what was last written to stay", async () => {
  const path = join(folder, "emptied.json");
  await writeManifest(path, manifest);
  noteManifest(path, { ...manifest, isSettled: !manifest.isSettled });
  expect(readManifest(path)?.isSettled).toBe(!manifest.isSettled);
  truncateSync(path);
  expect(readManifest(path)).toEqual(manifest);
});

test("one that is not there is none, and one that makes no sense is left alone", () => {
  const path = join(folder, "odd.json");
  expect(readManifest(path)).toBeNull();
  for (const text of ["", "{", "{}"]) {
    writeFileSync(path, text);
    expect(() => readManifest(path)).toThrow("cannot be understood");
  }
});
