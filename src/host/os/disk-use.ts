// The space that a folder takes on the disk.
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** The unit of `stat`, whatever the file system's own block size is. */
const BLOCK_BYTES = 512;

/** The set-user and the set-group bit. */
const SET_IDS = 0o6000;

/** The number of files that are read at the same time. */
const AT_ONCE = 32;

/**
 * The bytes of all files below a folder, without holes and without following links. Vanished files count as 0.
 * @param maxEntries the most files and folders to count, so that one engine does not hold up the others.
 */
export async function diskUseOf(folder: string, maxEntries: number): Promise<number> {
  return (await treeSizeOf(folder, maxEntries)).bytes;
}

/** What is known of a tree of files after a walk through it. */
export interface TreeSize {
  bytes: number;
  /** The number of files and folders that were counted. */
  entries: number;
  /** Whether any of them has the set-user or the set-group bit. */
  hasSetIds: boolean;
}

/** As `diskUseOf`, with what else the walk shows. */
export async function treeSizeOf(folder: string, maxEntries: number): Promise<TreeSize> {
  let bytes = 0;
  let hasSetIds = false;
  let left = maxEntries;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && left > 0; next = folders.pop()) {
    for await (const paths of entriesOf(next)) {
      left -= paths.length;
      const found = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
      for (const [index, file] of found.entries()) {
        bytes += (file?.blocks ?? 0) * BLOCK_BYTES;
        hasSetIds ||= ((file?.mode ?? 0) & SET_IDS) !== 0;
        const path = paths[index];
        if (file?.isDirectory() === true && path !== undefined) folders.push(path);
      }
      if (left <= 0) break;
    }
  }
  return { bytes, entries: maxEntries - left, hasSetIds };
}

/** The paths of a folder's entries, in batches; empty when the folder is gone. */
async function* entriesOf(folder: string): AsyncGenerator<string[]> {
  const opened = await opendir(folder).catch(() => null);
  if (opened === null) return;
  let paths: string[] = [];
  try {
    for await (const { name } of opened) {
      paths.push(join(folder, name));
      if (paths.length < AT_ONCE) continue;
      yield paths;
      paths = [];
    }
  } catch {
    // The entries that were read before the folder vanished count.
  }
  yield paths;
}
