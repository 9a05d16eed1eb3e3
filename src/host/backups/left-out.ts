// Removes from the copy of a data folder what a copy must not have. The names and links in it are in the instance's hands.
import { rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isFolderItself } from "../../lib/files.ts";
import { removeTrees } from "../../lib/tree-removal.ts";

/** What a copy must not have, by the paths in it. */
export interface LeftOut {
  /** Patterns, in which `*` fits in one name, and `**` in any number of folders. */
  leftOut: string[];
  /** Paths as they are, none of which is a pattern. */
  leftOutPaths?: string[];
}

/** So many folders are removed by one program. */
const TREES_AT_ONCE = 100;

/**
 * Removes what is left out of a folder, in which nobody changes anything meanwhile. A link is removed, and never followed:
 * what it leads to belongs to somebody else, and the host may delete everything.
 * @throws the reason of the signal, when that is aborted.
 */
export async function removeLeftOut(
  folder: string,
  { leftOut, leftOutPaths = [] }: LeftOut,
  signal: AbortSignal,
): Promise<void> {
  const patterns = leftOut.map((pattern) => new Bun.Glob(pattern));
  const paths = new Set(leftOutPaths);
  const isLeftOut = (path: string) => paths.has(path) || patterns.some((pattern) => pattern.match(path));
  const folders = [""];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    signal.throwIfAborted();
    const trees: string[] = [];
    for (const name of await readdir(join(folder, at))) {
      const path = at === "" ? name : `${at}/${name}`;
      const isFolder = isFolderItself(join(folder, path));
      if (isLeftOut(path) && isFolder) trees.push(join(folder, path));
      else if (isLeftOut(path)) rmSync(join(folder, path), { force: true });
      else if (isFolder) folders.push(path);
    }
    for (let first = 0; first < trees.length; first += TREES_AT_ONCE)
      await removeTrees(trees.slice(first, first + TREES_AT_ONCE), signal);
  }
}
