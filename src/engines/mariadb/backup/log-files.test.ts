// The binary log of a restore whose data brought links: what they lead to is neither read, nor written to, nor deleted.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RestoreContext } from "../../backup.ts";
import { assembleLog } from "./log-files.ts";

const SEGMENT = "650000000000000100000000";
const context = { account: null, signal: new AbortController().signal } as RestoreContext;
let root: string;
let foreign: string;

beforeEach(() => {
  root = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-log-files-"));
  foreign = join(root, "foreign");
  mkdirSync(foreign);
  writeFileSync(join(foreign, SEGMENT), "the log of another cluster");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test("a link in the place of the log is refused", async () => {
  symlinkSync(foreign, join(root, "log"));
  await expect(assembleLog(context, join(root, "log"))).rejects.toThrow(
    "something else in the place of its log",
  );
  expect(readdirSync(foreign)).toEqual([SEGMENT]);
});

test("a link in the place of a segment is refused", async () => {
  mkdirSync(join(root, "log"));
  symlinkSync(join(foreign, SEGMENT), join(root, "log", SEGMENT));
  await expect(assembleLog(context, join(root, "log"))).rejects.toThrow(
    "something else in the place of its log",
  );
});
