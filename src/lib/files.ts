// Writing files so that a kill or a power cut leaves either the old content or the new.
import { closeSync, fchmodSync, fchownSync, fsync, openSync, renameSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

const fsyncAsync = promisify(fsync);

/** Replaces a file in one step; after a power cut it may still be the old one. */
export function replaceFile(path: string, content: string, mode: number, gid?: number): void {
  const temporary = `${path}.tmp`;
  const fd = openSync(temporary, "w", mode);
  try {
    if (gid !== undefined) fchownSync(fd, 0, gid);
    fchmodSync(fd, mode);
    writeSync(fd, content);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, path);
}

/** Resolves when the file and its name are on the disk. */
export async function syncFile(path: string): Promise<void> {
  for (const each of [path, dirname(path)]) {
    const fd = openSync(each, "r");
    try {
      await fsyncAsync(fd);
    } finally {
      closeSync(fd);
    }
  }
}
