// The space that a folder takes on the disk.
import { lstat, opendir } from "node:fs/promises";
import { codeOf } from "../../lib/errors.ts";

/** The unit of `stat`, whatever the file system's own block size is. */
const BLOCK_BYTES = 512;

/** What an entry of a tree takes at least: an empty file has an inode and a name. */
const ENTRY_BYTES = 4_096;

/** The set-user and the set-group bit. */
const SET_IDS = 0o6000;

/** The most levels of folders that a walk goes down; trees of packages have some 50. */
export const MAX_LEVELS = 256;

/** Each character stands for one byte. */
const BYTES = "latin1";

const SLASH = Buffer.from("/");

/** The number of files that are read at the same time. */
const AT_ONCE = 32;

/**
 * The bytes of all files below a folder, without holes and without following links. Vanished files count as 0.
 * @param maxEntries the most files and folders to count, so that one engine does not hold up the others.
 */
export async function diskUseOf(folder: string, maxEntries: number): Promise<number> {
  return (await walk(folder, maxEntries, 0)).bytes;
}

/** What a tree may have too much of. */
export type TreeBound = "entries" | "levels";

/** What is known of a tree of files after a walk through it. */
export interface TreeSize {
  bytes: number;
  /** Whether any file or folder has the set-user or the set-group bit. */
  hasSetIds: boolean;
  /** Why there may be more than the walk has seen; null when it has seen all. */
  excess: TreeBound | null;
}

/** Measures the tree of a build, in which each file and folder counts, however little is in it. */
export function treeSizeOf(folder: string, maxEntries: number): Promise<TreeSize> {
  return walk(folder, maxEntries, ENTRY_BYTES);
}

async function walk(root: string, maxEntries: number, entryBytes: number): Promise<TreeSize> {
  const size: TreeSize = { bytes: 0, hasSetIds: false, excess: null };
  let left = maxEntries;
  // What cannot be looked at may be anything.
  const hidden = (error: unknown) => {
    if (!hasVanished(error)) size.excess = "levels";
    return null;
  };
  const folders: { path: Buffer; level: number }[] = [{ path: Buffer.from(root), level: 0 }];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    const { path: parent, level } = next;
    for await (const paths of entriesOf(parent, hidden)) {
      left -= paths.length;
      const found = await Promise.all(paths.map((path) => lstat(path).catch(hidden)));
      for (const [index, file] of found.entries()) {
        const path = paths[index];
        if (file === null || path === undefined) continue;
        size.bytes += Math.max(entryBytes, file.blocks * BLOCK_BYTES);
        size.hasSetIds ||= (file.mode & SET_IDS) !== 0;
        if (!file.isDirectory()) continue;
        if (level < MAX_LEVELS) folders.push({ path, level: level + 1 });
        else size.excess = "levels";
      }
      if (left <= 0) return { ...size, excess: "entries" };
    }
  }
  return size;
}

/** Whether an entry is gone, or a folder that led to it: the owner of a tree may change it meanwhile. */
function hasVanished(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
}

/**
 * The paths of a folder's entries, in batches; empty when the folder is gone. A name can be bytes that are
 * no text; made text, it would name nothing.
 */
async function* entriesOf(folder: Buffer, hidden: (error: unknown) => null): AsyncGenerator<Buffer[]> {
  const opened = await opendir(folder, { encoding: BYTES }).catch(hidden);
  if (opened === null) return;
  let paths: Buffer[] = [];
  try {
    for await (const { name } of opened) {
      paths.push(Buffer.concat([folder, SLASH, Buffer.from(name, BYTES)]));
      if (paths.length < AT_ONCE) continue;
      yield paths;
      paths = [];
    }
  } catch (error) {
    // The entries that were read before the folder vanished count.
    hidden(error);
  }
  yield paths;
}
