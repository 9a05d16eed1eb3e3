// Deletes trees of files that customers have made. They may be deep: Bun's own removal takes time that grows with the
// square of the depth, hours for a tree that a build makes in seconds, and other calls for files wait for it.
import { randomUUID } from "node:crypto";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "./errors.ts";
import type { Log } from "./log.ts";

/** Its walk is linear in every distribution, which is not so for `rm`; databases and their clients come first. */
const [FIND, DELETE] = [
  ["/usr/bin/nice", "-n", "10", "/usr/bin/find"],
  ["-xdev", "-ignore_readdir_race", "-depth", "-delete"],
];

/** What trees that wait for their deletion are called, after a dot; unfinished releases have the other ending. */
const [REMOVED, UNFINISHED] = [".removed", ".tmp"];

/** Deletes trees, any of which may be absent. @throws when something of them is left, also after an abort. */
export async function removeTrees(paths: readonly string[], signal?: AbortSignal): Promise<void> {
  const present = paths.filter(isThere);
  if (present.length === 0) return;
  const child = Bun.spawn([...FIND, ...present, ...DELETE], {
    env: {},
    // What it says of a deep tree may be longer than memory is large.
    stdio: ["ignore", "ignore", "ignore"],
    ...(signal !== undefined && { signal }),
  });
  const code = await child.exited;
  const left = code === 0 ? undefined : present.find(isThere);
  if (left !== undefined) throw new Error(`not all of ${left} could be deleted`);
}

/** Takes trees out of the way at once, and deletes them one after the other, behind the back of who asked. */
export class TreeRemover {
  readonly #log: Log;
  readonly #stop = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes up what earlier hosts have not deleted in a folder, which may be absent. */
  start(folder: string): void {
    for (const name of isThere(folder) ? readdirSync(folder) : []) {
      if (!name.startsWith(".")) continue;
      if (name.endsWith(REMOVED)) this.#delete(join(folder, name));
      if (name.endsWith(UNFINISHED)) this.discard(join(folder, name), folder);
    }
  }

  /**
   * Moves a tree aside, where nobody looks for it, and deletes it later. It may be absent.
   * @param folder the folder on the same file system that `start` of the next host looks into.
   */
  discard(path: string, folder: string): void {
    const aside = join(folder, `.${randomUUID()}${REMOVED}`);
    try {
      renameSync(path, aside);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      throw error;
    }
    this.#delete(aside);
  }

  /** Leaves the rest to the next host. */
  close(): void {
    this.#stop.abort();
  }

  #delete(path: string): void {
    const { signal } = this.#stop;
    this.#last = this.#last
      .then(async () => void (signal.aborted || (await removeTrees([path], signal))))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#log.warn({ error }, "what was removed could not be deleted");
      });
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
