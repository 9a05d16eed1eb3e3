// What doctor says about the targets of backups before and after the first start.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { checkBackups } from "./backups.ts";

function textsOf(dataDir: string, path: string): string[] {
  const targets = [{ type: "folder", path }];
  return checkBackups({ dataDir, backups: { targets } } as Config).map(({ text }) => text);
}

test("the folder below the data directory is named before the first start, and is not missing", () => {
  const parent = mkdtempSync(join(tmpdir(), "pilvi-doctor-"));
  const dataDir = join(parent, "data");
  const path = join(dataDir, "backups");
  expect(textsOf(dataDir, path)).toEqual([`backups are on the same disk as the data (${path})`]);
  rmSync(parent, { recursive: true });
});

test("a folder elsewhere whose own folder is not there is missing", () => {
  const parent = mkdtempSync(join(tmpdir(), "pilvi-doctor-"));
  const path = join(parent, "disk", "backups");
  expect(textsOf(join(parent, "data"), path)).toContainEqual(
    expect.stringContaining(`${join(parent, "disk")} is not there`),
  );
  rmSync(parent, { recursive: true });
});
