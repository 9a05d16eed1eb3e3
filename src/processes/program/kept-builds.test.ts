// Kept builds: their names follow the sources, and several starts may place the same build.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildName, isWritable, linkOrCopy, nameBuild, placeBuild, pruneBuilds } from "./kept-builds.ts";

let root: string;

beforeAll(() => {
  root = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-builds-"));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

function folderWith(name: string, files: Record<string, string>): string {
  const folder = join(root, name);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

test("a name follows each source and each option, and no test", () => {
  const folder = folderWith("sources", { "a.ts": "1", "below/b.ts": "2" });
  const name = buildName([folder]);
  expect(name).toMatch(/^[\da-f]{16}$/);
  expect(buildName([folder, folder, join(root, "missing")])).toBe(name);
  expect(buildName([folder], "other options")).not.toBe(name);
  writeFileSync(join(folder, "a.test.ts"), "a test");
  expect(buildName([folder])).toBe(name);
  writeFileSync(join(folder, "below/b.ts"), "3");
  expect(buildName([folder])).not.toBe(name);
});

test("a program that runs is placed although a killed process has left a link to it", () => {
  const place = join(root, "bun");
  for (let times = 0; times < 2; times++) linkOrCopy(process.execPath, place);
  expect(statSync(place).size).toBe(statSync(process.execPath).size);
});

test("a build is placed as a whole, again without harm", () => {
  const build = folderWith("build", { "main.js": "main", "assets/style.css": "style" });
  const target = join(root, "placed");
  for (let times = 0; times < 2; times++) placeBuild(build, target);
  expect(readFileSync(join(target, "assets/style.css"), "utf8")).toBe("style");
  expect(readFileSync(join(target, "main.js"), "utf8")).toBe("main");
});

test("the second of two simultaneous builds leaves the first, and nothing of itself", () => {
  const first = folderWith("twice", { "main.js": "main" });
  const second = folderWith("twice.2", { "main.js": "main" });
  nameBuild(second, first);
  expect([existsSync(first), existsSync(second)]).toEqual([true, false]);
});

test("a build that cannot have its name is an error", () => {
  const build = folderWith("nameless", { "main.js": "main" });
  expect(() => nameBuild(build, join(root, "no-such-folder/build"))).toThrow("ENOENT");
  expect(existsSync(build)).toBe(false);
});

test("all but the latest builds are removed, never those in use", () => {
  const builds = join(root, "builds");
  const names = ["one", "two", "three", "four", "five"];
  for (const name of names) folderWith(`builds/${name}`, { "main.js": name });
  pruneBuilds(builds, ["one"]);
  const left = names.filter((name) => existsSync(join(builds, name)));
  expect(left).toContain("one");
  expect(left).toHaveLength(4);
});

test("a folder is made where it can be, and refused where a file is in the way", () => {
  expect(isWritable(join(root, "new/folder"))).toBe(true);
  writeFileSync(join(root, "file"), "");
  expect(isWritable(join(root, "file/folder"))).toBe(false);
});
