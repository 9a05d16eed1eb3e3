// The folders in which data is restored: programs that run over a customer's data cannot exchange them, and they are
// emptied whatever is in them.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeDeep, VERY_DEEP } from "../../../tests/support/deep-tree.ts";
import { IS_ROOT } from "../../../tests/support/pilvi/program.ts";
import { emptyFolders, type DataBuild } from "./unpack.ts";

const ACCOUNT = { uid: 65_534, gid: 65_534 };
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-unpack-"));
  chmodSync(root, 0o711);
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test.if(IS_ROOT)(
  "the user of a restore writes to its data, and cannot put a link in the place of that",
  async () => {
    const folder = join(root, "build");
    mkdirSync(folder, { mode: 0o700 });
    await emptyFolders({ folder, context: { account: ACCOUNT } } as DataBuild);
    const asUser = (...argv: string[]) => Bun.spawnSync(argv, { cwd: "/", ...ACCOUNT }).exitCode;
    for (const name of ["data", "work"]) {
      expect(asUser("/usr/bin/touch", join(folder, name, "file"))).toBe(0);
      expect(asUser("/usr/bin/mv", join(folder, name), join(folder, "other"))).not.toBe(0);
    }
    expect(asUser("/usr/bin/ln", "-s", "/etc", join(folder, "link"))).not.toBe(0);
    expect(statSync(folder).uid).toBe(0);
  },
);

test("the files of an earlier attempt are deleted, however deep their folders are", async () => {
  const folder = join(root, "build");
  mkdirSync(join(folder, "data"), { recursive: true });
  makeDeep(join(folder, "data", "deep"), VERY_DEEP);
  await emptyFolders({ folder, context: { account: null } } as DataBuild);
  expect(["data", "work"].map((name) => readdirSync(join(folder, name)))).toEqual([[], []]);
});
