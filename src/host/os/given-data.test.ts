// Data of a user of an earlier Pilvi is given to the user of today, however deep it is, and nothing beside it.
import { afterAll, expect, test } from "bun:test";
import { chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDeep } from "../../../tests/support/deep-tree.ts";
import { freshDataDir } from "../../../tests/support/pilvi/pilvi.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { removeTrees } from "../../lib/tree-removal.ts";
import { ensureEngineFolders, ensureInstanceFolder, giveData, instanceFolder } from "./layout.ts";

const FORMER = 94_996;
const ACCOUNT = { uid: 94_997, gid: 94_997 };
const dataDir = freshDataDir();
const folder = instanceFolder(dataDir, "db-1");

afterAll(() => removeTrees([dataDir]));

/** The files in the data, itself included, that belong to somebody else than the user of today. */
function ofOthers(): string {
  const argv = [
    "/usr/bin/find",
    folder.data,
    "-not",
    "(",
    "-uid",
    `${ACCOUNT.uid}`,
    "-gid",
    `${ACCOUNT.gid}`,
    ")",
  ];
  return Bun.spawnSync(argv).stdout.toString().trim();
}

test.if(IS_ROOT)("what links lead to stays as it is, and the folder itself follows last", async () => {
  ensureInstanceFolder(folder);
  mkdirSync(folder.data);
  const other = join(dataDir, "other");
  mkdirSync(other);
  writeFileSync(join(other, "file"), "");
  makeDeep(join(folder.data, "deep"));
  writeFileSync(join(folder.data, "-file"), "");
  for (const place of ["", "deep"]) {
    symlinkSync(other, join(folder.data, place, "folder"));
    symlinkSync(join(other, "file"), join(folder.data, place, "link"));
  }
  chownSync(folder.data, FORMER, FORMER);
  await giveData(folder, ACCOUNT);
  expect(ofOthers()).toBe(folder.data);
  ensureEngineFolders(folder, ACCOUNT, ACCOUNT);
  expect(ofOthers()).toBe("");
  expect([statSync(other).uid, statSync(join(other, "file")).uid]).toEqual([0, 0]);
});
