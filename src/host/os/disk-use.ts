// How much space a folder takes on the disk.
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

/** What `stat` counts in, whatever the file system's own blocks are. */
const BLOCK_BYTES = 512;

/** Files that are asked for at the same time. */
const AT_ONCE = 32;

/**
 * The bytes that all files below a folder take, with holes left out and links not followed. Files that vanish meanwhile count
 * nothing.
 * @param maxEntries after so many files and folders the rest is left out, so that an engine with a great many holds nobody up.
 */
export async function diskUseOf(folder: string, maxEntries: number): Promise<number> {
  let bytes = 0;
  let left = maxEntries;
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined && left > 0; next = folders.pop()) {
    for await (const paths of entriesOf(next)) {
      left -= paths.length;
      const found = await Promise.all(paths.map((path) => lstat(path).catch(() => null)));
      for (const [index, file] of found.entries()) {
        bytes += (file?.blocks ?? 0) * BLOCK_BYTES;
        const path = paths[index];
        if (file?.isDirectory() === true && path !== undefined) folders.push(path);
      }
      if (left <= 0) break;
    }
  }
  return bytes;
}

/** The paths of a folder's entries, some at a time; none of a folder that is gone. */
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
    // What was read before it was gone counts.
  }
  yield paths;
}
