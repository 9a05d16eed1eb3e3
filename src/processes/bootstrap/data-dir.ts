// The data directory: made, tried, and opened just so far that engines under users of their own can reach their files.
import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, messageOf, Refusal } from "../../lib/errors.ts";
import { tryLock } from "../../lib/libc.ts";
import { refuseClosed } from "./closed-folder.ts";
import { takesOver } from "./takeover.ts";

const FAULTS: Record<string, string> = {
  EACCES: "permission is denied",
  EPERM: "it is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EEXIST: "a file is in its place",
  ENOTDIR: "a part of its path is a file",
  ENAMETOOLONG: "a name in its path is too long",
};

/** @throws Refusal when the folder cannot be used; its sentence names the remedy. */
export function ensureDataDir(dataDir: string): void {
  try {
    // Only the folder itself is closed: `mkdirSync` would give the mode to parents that it makes along with it, too.
    mkdirSync(dirname(dataDir), { recursive: true });
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const fault = FAULTS[codeOf(error) ?? ""] ?? messageOf(error);
    throw new Refusal(
      `The data directory ${dataDir} cannot be used: ${fault}. Set PILVI_DATA_DIR to another one.`,
      error,
    );
  }
  if (process.getuid?.() !== 0) return;
  chmodSync(dataDir, 0o711);
  refuseClosed("the data directory", dataDir, "PILVI_DATA_DIR");
}

/**
 * Takes a lock of the data directory for the life of this process.
 * @returns false when another process has it.
 */
export function lockDataDir(dataDir: string, name: string): boolean {
  const fd = openSync(join(dataDir, `${name}.lock`), "a", 0o600);
  if (tryLock(fd)) return true;
  closeSync(fd);
  return false;
}

/**
 * Takes a lock as `lockDataDir` does, and waits for a holder that is about to end.
 * @throws Refusal when the holder stays.
 */
export async function takeDataDirLock(dataDir: string, name: string): Promise<void> {
  if (await takesOver(() => lockDataDir(dataDir, name))) return;
  throw new Refusal(`Another Pilvi already runs on the data directory ${dataDir}.`);
}
