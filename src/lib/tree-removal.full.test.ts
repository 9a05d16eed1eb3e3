// Trees of files are deleted however deep they are, and nothing beside them.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDeep, VERY_DEEP } from "../../tests/support/deep-tree.ts";
import { until } from "../../tests/support/pilvi/pilvi.ts";
import { createLog } from "./log.ts";
import { removeTrees, TreeRemover } from "./tree-removal.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "pilvi-trees-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("a deep tree is deleted, files and links too, while what links lead to and absent trees are no matter", async () => {
  const [deep, file, link, kept] = ["deep", "file", "link", "kept"].map((name) => join(root, name));
  if (deep === undefined || file === undefined || link === undefined || kept === undefined) return;
  makeDeep(deep, VERY_DEEP);
  writeFileSync(file, "text");
  mkdirSync(kept);
  writeFileSync(join(kept, "text"), "text");
  symlinkSync(kept, link);
  symlinkSync(kept, join(deep, "link"));
  await removeTrees([deep, join(root, "absent"), file, link]);
  expect(readdirSync(root)).toEqual(["kept"]);
  expect(existsSync(join(kept, "text"))).toBe(true);
});

test("a tree is out of the way at once, and deleted later", async () => {
  makeDeep(join(root, "deep"));
  const remover = new TreeRemover(createLog("host", "silent"));
  remover.discard(join(root, "deep"), root);
  remover.discard(join(root, "absent"), root);
  expect(existsSync(join(root, "deep"))).toBe(false);
  await until("the tree is deleted", () => readdirSync(root).length === 0);
});

test("the next remover deletes the trees that a closed remover left, and unfinished releases", async () => {
  makeDeep(join(root, "deep"));
  mkdirSync(join(root, ".a.tmp"));
  mkdirSync(join(root, "kept"));
  const former = new TreeRemover(createLog("host", "silent"));
  former.discard(join(root, "deep"), root);
  former.close();
  const next = new TreeRemover(createLog("host", "silent"));
  next.start(root);
  next.start(join(root, "absent"));
  await until("the trees are deleted", () => readdirSync(root).length === 1);
  expect(readdirSync(root)).toEqual(["kept"]);
});
