// Reads files that may be missing, and writes files so that a kill or a power cut leaves either the old content or the
// new.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  lchownSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { codeOf } from "./errors.ts";

const fsyncAsync = promisify(fsync);

/** The content of a text file; null when the file does not exist. @throws any other error of the system. */
export function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/**
 * Replaces a file in one step; after a power cut it may still have the old content. A file that was not there before may
 * be empty then; on file systems that write names before content, such as XFS, a replaced file may, too: see `keepFile`.
 */
export function replaceFile(path: string, content: string, mode: number, gid?: number): void {
  const temporary = `${path}.tmp`;
  try {
    fillFile(temporary, content, mode, gid);
    renameSync(temporary, path);
  } catch (error) {
    // On a full disk even half of a file takes room that is needed.
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** As `replaceFile`, for a file that goes on being written. @returns its descriptor, open for appending. */
export function replaceOpenFile(path: string, content: string, mode: number): number {
  const temporary = `${path}.tmp`;
  rmSync(temporary, { force: true });
  const fd = openSync(temporary, "a", mode);
  try {
    writeFileSync(fd, content);
    renameSync(temporary, path);
    return fd;
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Makes a link in one step, in the place of whatever has its name; other processes may do the same at this moment. */
export function replaceLink(path: string, target: string): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  symlinkSync(target, temporary);
  renameSync(temporary, path);
}

function fillFile(path: string, content: string, mode: number, gid: number | undefined): void {
  const fd = openSync(path, "w", mode);
  try {
    if (gid !== undefined) fchownSync(fd, 0, gid);
    fchmodSync(fd, mode);
    // When the disk becomes full, a single write may take only a part, and say so by a number alone.
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/** Resolves when the file and its name are on the disk. */
export async function syncFile(path: string): Promise<void> {
  await sync(path);
  await sync(dirname(path));
}

/**
 * Resolves when all that was written to the file system of a path is on the disk. Takes a fraction of the time of a sync
 * of each file where there are many.
 */
export async function syncFileSystem(path: string): Promise<void> {
  const child = Bun.spawn(["/bin/sync", "--file-system", path], {
    env: {},
    stdio: ["ignore", "ignore", "ignore"],
  });
  if ((await child.exited) !== 0)
    throw new Error(`the file system of ${path} could not be written to its disk`);
}

/**
 * Resolves when the file is on the disk, under its own name and under a second name that later replacements leave
 * alone. A reader can go back to the second when a power cut left the file itself empty.
 */
export async function keepFile(path: string): Promise<void> {
  // A file that took its place meanwhile is not on the disk yet, and is the file to keep.
  while ((await sync(path)) !== statSync(path).ino) continue;
  addName(path, keptPath(path));
  await sync(dirname(path));
}

/** @returns the inode of the file that was synced, whatever file has its name by now. */
async function sync(path: string): Promise<number> {
  const fd = openSync(path, "r");
  try {
    await fsyncAsync(fd);
    return fstatSync(fd).ino;
  } finally {
    closeSync(fd);
  }
}

/** Where `keepFile` keeps the content of a file. */
export function keptPath(path: string): string {
  return `${path}.kept`;
}

/** Gives a file a second name, in place of any other file of that name. */
function addName(path: string, name: string): void {
  const temporary = `${name}.tmp`;
  rmSync(temporary, { force: true });
  linkSync(path, temporary);
  renameSync(temporary, name);
}

/** Whether a path is a folder, and no link to one. */
export function isFolderItself(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Gives a tree to a user, each folder after its content; a link itself is given, never its target. */
export function chownTree(path: string, { uid, gid }: { uid: number; gid: number }): void {
  if (lstatSync(path).isDirectory()) {
    for (const name of readdirSync(path)) chownTree(join(path, name), { uid, gid });
  }
  lchownSync(path, uid, gid);
}

/** Differs whenever a file was replaced or written; empty when there is no file. */
export function signatureOf(path: string): string {
  try {
    const { ino, size, mtimeNs } = statSync(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return "";
    throw error;
  }
}
