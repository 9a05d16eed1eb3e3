// What is left out of a copy of a folder whose names and links are in the hands of the instance.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NOT_COPIED } from "../../engines/postgres/backup/copy.ts";
import { copyFolder, type StoppedData } from "./copy-folder.ts";
import type { DataBuild } from "./unpack.ts";

const NEVER = new AbortController().signal;
let folder: string;
let source: string;
/** A folder of somebody else. */
let foreign: string;

beforeEach(() => {
  folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-copy-"));
  source = join(folder, "source");
  foreign = join(folder, "foreign");
  for (const path of [source, foreign, join(folder, "build")]) mkdirSync(path);
  writeFileSync(join(foreign, "file"), "kept");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(join(source, path, ".."), { recursive: true });
    writeFileSync(join(source, path), "content");
  }
}

/** @returns the paths in the copy. */
async function copied(leftOut: Omit<StoppedData, "path">): Promise<string[]> {
  const context = { account: null, limits: {}, installed: { env: {} } };
  const build = { id: "clone", context, folder: join(folder, "build"), cgroups: null };
  await copyFolder(build as unknown as DataBuild, { path: source, ...leftOut }, NEVER);
  // It follows no link, unlike a recursive listing of Bun.
  const found = Bun.spawnSync(["find", join(folder, "build/data"), "-mindepth", "1", "-printf", "%P\\n"]);
  return found.stdout.toString().trim().split("\n").sort();
}

test.each(["pg_stat_tmp", "pg_replslot"])("a link in the place of %s costs nobody a file", async (name) => {
  symlinkSync(foreign, join(source, name));
  expect(await copied({ leftOut: NOT_COPIED })).toEqual([name]);
  expect(readdirSync(foreign)).toEqual(["file"]);
});

test("a link on the way to a path that is left out costs nobody a file", async () => {
  symlinkSync(foreign, join(source, "pg_wal"));
  await copied({ leftOut: [], leftOutPaths: ["pg_wal/file"] });
  expect(existsSync(join(foreign, "file"))).toBe(true);
});

test("a link in the place of the data is not copied", async () => {
  rmSync(source, { recursive: true });
  symlinkSync(foreign, source);
  await expect(copied({ leftOut: ["*"] })).rejects.toThrow("The data could not be copied.");
  expect(readdirSync(foreign)).toEqual(["file"]);
});

test("a pattern leaves out what is in a folder and in all below, links as links", async () => {
  write("pg_notify/0000", "pg_notify/.hidden", "pg_notify/deep/file", "base/1/pgsql_tmp1.0", "base/1/1259");
  write("base/pgsql_tmp/pgsql_tmp2", "backup_label.old", "pg_wal/backup_label");
  symlinkSync(foreign, join(source, "base/1/pgsql_tmp3"));
  symlinkSync(foreign, join(source, "pg_notify/link"));
  expect(await copied({ leftOut: NOT_COPIED })).toEqual([
    "base",
    "base/1",
    "base/1/1259",
    "pg_notify",
    "pg_wal",
    "pg_wal/backup_label",
  ]);
  expect(readdirSync(foreign)).toEqual(["file"]);
});

test("a path that is left out is no pattern", async () => {
  write("pg_wal/*", "pg_wal/{a,b}", "pg_wal/a", "pg_wal/archive_status/a.done");
  const leftOutPaths = ["pg_wal/*", "pg_wal/{a,b}", "pg_wal/archive_status"];
  expect(await copied({ leftOut: [], leftOutPaths })).toEqual(["pg_wal", "pg_wal/a"]);
});
