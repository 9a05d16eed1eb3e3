// Writing files so that a kill or a power cut leaves either the old content or the new.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";

const fsyncAsync = promisify(fsync);

/** Replaces a file in one step; after a power cut it may still be the old one. */
export function replaceFile(path: string, content: string, mode: number, gid?: number): void {
  const temporary = `${path}.tmp`;
  try {
    fillFile(temporary, content, mode, gid);
    renameSync(temporary, path);
  } catch (error) {
    // On a full disk even half of a file is in the way.
    rmSync(temporary, { force: true });
    throw error;
  }
}

function fillFile(path: string, content: string, mode: number, gid: number | undefined): void {
  const fd = openSync(path, "w", mode);
  try {
    if (gid !== undefined) fchownSync(fd, 0, gid);
    fchmodSync(fd, mode);
    // A single write may take only a part of it when the disk becomes full, and say so by a number alone.
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
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
