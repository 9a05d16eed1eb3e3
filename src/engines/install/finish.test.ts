// The last step of an installation, on a disk that a power cut may leave with names before content.
import { expect, spyOn, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as files from "../../lib/files.ts";
import { NOTE_FILE } from "../store-folder.ts";
import { finishEngine } from "./finish.ts";

test("an engine has its final name only once all of it is on the disk", async () => {
  const enginesDir = mkdtempSync(join(tmpdir(), "pilvi-finish-"));
  const folder = join(enginesDir, "valkey.tmp");
  mkdirSync(folder);
  const says = '#!/bin/sh\necho "Valkey server v=8.1.1 sha=00000000:0 malloc=libc bits=64 build=0"\n';
  writeFileSync(join(folder, "valkey-server"), says, { mode: 0o755 });
  const home = join(enginesDir, "valkey-8.1.1");
  const seen: unknown[] = [];
  const sync = spyOn(files, "syncFileSystem").mockImplementation(async (path) => {
    seen.push([path, existsSync(join(folder, NOTE_FILE)), existsSync(home)]);
  });
  try {
    const engine = { name: "valkey" as const, folder, program: "valkey-server", libraryDirs: [] };
    expect(await finishEngine(engine, enginesDir)).toBe("8.1.1");
    expect(seen).toEqual([[folder, true, false]]);
    expect(existsSync(home)).toBe(true);
  } finally {
    sync.mockRestore();
    rmSync(enginesDir, { recursive: true });
  }
});
