// The space that a folder takes.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTrees } from "../../lib/tree-removal.ts";
import { diskUseOf, MAX_LEVELS, treeSizeOf } from "./disk-use.ts";

const MEBIBYTE = 1024 ** 2;

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "pilvi-disk-use-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (...path: string[]) => writeFileSync(join(root, ...path), Buffer.alloc(MEBIBYTE, 1));

test("files at every depth count, and links and holes do not", async () => {
  mkdirSync(join(root, "counted", "deep"), { recursive: true });
  mkdirSync(join(root, "beside"));
  write("counted", "a");
  write("counted", "deep", "b");
  write("beside", "c");
  symlinkSync(join(root, "beside"), join(root, "counted", "link"));
  symlinkSync(join(root, "counted"), join(root, "counted", "deep", "round"));
  writeFileSync(join(root, "counted", "hole"), "");
  truncateSync(join(root, "counted", "hole"), 100 * MEBIBYTE);
  const bytes = await diskUseOf(join(root, "counted"), 1_000);
  expect(bytes).toBeGreaterThanOrEqual(2 * MEBIBYTE);
  expect(bytes).toBeLessThan(3 * MEBIBYTE);
});

test("a missing folder takes no space", async () => {
  expect(await diskUseOf(join(root, "absent"), 1_000)).toBe(0);
});

test("a folder with more files than the limit counts in part", async () => {
  for (let index = 0; index < 100; index += 1) writeFileSync(join(root, `${index}`), Buffer.alloc(8_192, 1));
  const all = await diskUseOf(root, 1_000);
  const part = await diskUseOf(root, 10);
  expect(part).toBeGreaterThan(0);
  expect(part).toBeLessThan(all);
});

test("a tree with paths that are too long is known to be larger than what was seen", async () => {
  const script =
    'my $n = "n" x 200; for (1..40) { mkdir $n or die; chdir $n or die } open(F, ">f"); print F "text"';
  expect(Bun.spawnSync(["perl", "-e", script], { cwd: root }).exitCode).toBe(0);
  expect(await treeSizeOf(root, 1_000)).toMatchObject({ excess: "levels" });
  await removeTrees([root]);
});

test("a tree with more entries or levels than the bounds is known to be larger than what was seen", async () => {
  mkdirSync(join(root, ...Array<string>(MAX_LEVELS).fill("d")), { recursive: true });
  expect(await treeSizeOf(root, 1_000)).toMatchObject({ excess: null });
  expect(await treeSizeOf(root, MAX_LEVELS)).toMatchObject({ excess: "entries" });
  mkdirSync(join(root, ...Array<string>(MAX_LEVELS + 1).fill("d")));
  expect(await treeSizeOf(root, 1_000)).toMatchObject({ excess: "levels" });
});

test("each file of a tree takes room, however little is in it", async () => {
  for (let index = 0; index < 100; index += 1) writeFileSync(join(root, String(index)), "");
  expect((await treeSizeOf(root, 1_000)).bytes).toBe(100 * 4_096);
});

test("a file with a set-user bit is found at any depth", async () => {
  mkdirSync(join(root, "deep"));
  write("deep", "program");
  expect((await treeSizeOf(root, 1_000)).hasSetIds).toBe(false);
  chmodSync(join(root, "deep", "program"), 0o4755);
  expect((await treeSizeOf(root, 1_000)).hasSetIds).toBe(true);
});

test("files and folders whose names are no text count like all others", async () => {
  const script = `
    for (chr(255), chr(255) x 255) { mkdir; open $file, ">", "$_/$_"; print $file "x" x ${MEBIBYTE}; chmod 04755, $file }
    open $file, ">", chr(254); print $file "x" x ${MEBIBYTE}; close $file or die $!`;
  expect(Bun.spawnSync(["perl", "-e", script], { cwd: root }).exitCode).toBe(0);
  expect(await diskUseOf(root, 1_000)).toBeGreaterThanOrEqual(3 * MEBIBYTE);
  expect(await treeSizeOf(root, 1_000)).toMatchObject({ excess: null, hasSetIds: true });
  expect(await treeSizeOf(root, 5)).toMatchObject({ excess: "entries" });
});
