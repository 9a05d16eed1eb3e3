// The last step of an installation names an engine once its content is on the disk, and refuses an unsafe package.
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as files from "../../lib/files.ts";
import { NOTE_FILE } from "../store-folder.ts";
import { finishEngine, type UnfinishedEngine } from "./finish.ts";

let enginesDir: string;
let engine: UnfinishedEngine;

beforeEach(() => {
  enginesDir = mkdtempSync(join(tmpdir(), "pilvi-finish-"));
  const folder = join(enginesDir, "valkey.tmp");
  mkdirSync(folder);
  const says = '#!/bin/sh\necho "Valkey server v=8.1.1 sha=00000000:0 malloc=libc bits=64 build=0"\n';
  writeFileSync(join(folder, "valkey-server"), says, { mode: 0o755 });
  engine = { name: "valkey", folder, program: "valkey-server", libraryDirs: [] };
});

afterEach(() => rmSync(enginesDir, { recursive: true }));

test("an engine has its final name only once all of it is on the disk", async () => {
  const { folder } = engine;
  const home = join(enginesDir, "valkey-8.1.1");
  const seen: unknown[] = [];
  const sync = spyOn(files, "syncFileSystem").mockImplementation(async (path) => {
    seen.push([path, existsSync(join(folder, NOTE_FILE)), existsSync(home)]);
  });
  try {
    expect(await finishEngine(engine, enginesDir)).toBe("8.1.1");
    expect(seen).toEqual([[folder, true, false]]);
    expect(existsSync(home)).toBe(true);
  } finally {
    sync.mockRestore();
  }
});

test("a package below the lowest safe package of its release is refused, and no engine is left", async () => {
  const packaged = (version: string) =>
    finishEngine({ ...engine, package: { version, release: "trixie" } }, enginesDir);
  await expect(packaged("8.1.1+dfsg1-3")).rejects.toThrow(
    "Valkey 8.1.1 is the package 8.1.1+dfsg1-3, which lacks security fixes of ",
  );
  // The installer removes folders with this ending.
  expect(readdirSync(enginesDir)).toEqual(["valkey.tmp"]);
  expect(await packaged("8.1.99-1")).toBe("8.1.1");
  expect(readdirSync(enginesDir)).toEqual(["valkey-8.1.99-1"]);
});
