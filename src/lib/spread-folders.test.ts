// The flag by which an ext4 keeps folders apart.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spreadFolders } from "./spread-folders.ts";

const EXT4_MAGIC = 0xef53;

/** The flags of a folder, as `lsattr` prints them. */
function flagsOf(folder: string): string {
  return Bun.spawnSync(["lsattr", "-d", folder]).stdout.toString().split(" ")[0] ?? "";
}

test("a folder gets the flag where the file system has it, and stays as it is elsewhere", () => {
  const folder = mkdtempSync(join(process.env.PILVI_TEST_ROOT ?? tmpdir(), "pilvi-spread-"));
  try {
    // The second time changes nothing.
    for (let times = 0; times < 2; times++) spreadFolders(folder);
    const isExt4 = statfsSync(folder).type === EXT4_MAGIC;
    if (Bun.which("lsattr") !== null) expect(flagsOf(folder).includes("T")).toBe(isExt4);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("a folder that is not there is an error", () => {
  expect(() => spreadFolders(join(tmpdir(), "no-such-folder"))).toThrow("ENOENT");
});
