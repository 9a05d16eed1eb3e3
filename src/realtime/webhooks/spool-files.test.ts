// Waiting webhooks of applications that were removed while no process ran do not stay on the disk.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { SpoolFiles } from "./spool-files.ts";
import { temporaryFolder } from "./test-support.ts";

const folder = temporaryFolder();
const warnings: string[] = [];
const log = { warn: (_members: object, message: string) => void warnings.push(message) };

afterAll(() => folder.remove());

test("only the files of the given applications are kept, and files of other kinds", () => {
  const path = folder.path("data");
  mkdirSync(path);
  const files = new SpoolFiles(path, log);
  for (const id of ["wsapp-1", "wsapp-2"]) writeFileSync(files.pathOf(id), "waits");
  // What is left of a file that was being written anew.
  writeFileSync(`${files.pathOf("wsapp-1")}.tmp`, "half");
  mkdirSync(folder.path("data/counters"));
  files.keepOnly(new Set(["wsapp-2", "wsapp-3"]));
  expect(readdirSync(path).sort()).toEqual(["counters", "webhooks-wsapp-2"]);
  expect(existsSync(files.pathOf("wsapp-2"))).toBe(true);
  expect(warnings).toEqual([]);
});

test("a folder that cannot be listed is logged", () => {
  new SpoolFiles(folder.path("missing"), log).keepOnly(new Set());
  expect(warnings).toHaveLength(1);
});
