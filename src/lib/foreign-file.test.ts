// Parts of files that other users may have replaced.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inForeignFolder, readForeign, writeForeign } from "./foreign-file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "foreign-file-"));
  writeFileSync(join(folder, "file"), "0123456789");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the beginning and the end of a file are read up to a bound", () => {
  const path = join(folder, "file");
  expect(readForeign(path, 4)).toBe("0123");
  expect(readForeign(path, 4, "end")).toBe("6789");
  expect(readForeign(path, 100, "end")).toBe("0123456789");
});

test("a link, a pipe, a folder and a missing file read as empty", () => {
  symlinkSync(join(folder, "file"), join(folder, "link"));
  Bun.spawnSync(["mkfifo", join(folder, "pipe")]);
  for (const name of ["link", "pipe", ".", "missing"]) expect(readForeign(join(folder, name), 10)).toBe("");
});

test("a written file takes the place of a link, whose target stays as it is", () => {
  const [target, path] = [join(folder, "target"), join(folder, "written")];
  writeFileSync(target, "the target");
  symlinkSync(target, path);
  writeForeign(path, "new", null);
  expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777]).toEqual(["new", 0o600]);
  expect(readFileSync(target, "utf8")).toBe("the target");
  expect(() => writeForeign(folder, "new", null)).toThrow();
});

test("work in a folder stays in it when a link takes its place, and does not begin behind a link", () => {
  const [inner, other] = [join(folder, "inner"), join(folder, "other")];
  for (const path of [inner, other]) mkdirSync(path);
  writeFileSync(join(inner, "file"), "inner");
  writeFileSync(join(other, "file"), "other");
  const read = inForeignFolder(inner, (path) => {
    renameSync(inner, join(folder, "moved"));
    symlinkSync(other, inner);
    return readFileSync(join(path, "file"), "utf8");
  });
  expect(read).toBe("inner");
  for (const name of ["inner", "file", "missing"])
    expect(inForeignFolder(join(folder, name), () => "read")).toBeNull();
});
