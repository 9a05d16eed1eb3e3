// Files and folders that outlive a power cut. A log is shipped each second by a few small files, so calls that only reach
// memory are made at once, without the detour over a thread that waits; the disk is always waited for beside other work.
import { closeSync, fsync, mkdirSync, openSync, writeFile, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { codeOf } from "../../lib/errors.ts";

const syncAsync = promisify(fsync);
const writeAsync = promisify(writeFile);

/** A larger write may have to wait for the disk. */
const MAX_BYTES_AT_ONCE = 262_144;

/** Makes folders below the root, which must exist. @param folder a path of names below the root. */
export async function makeFolders(root: string, folder: string): Promise<void> {
  let path = root;
  for (const part of folder.split("/")) {
    const parent = path;
    path = join(path, part);
    try {
      mkdirSync(path, { mode: 0o700 });
      await syncFolder(parent);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

/** Writes a file anew; its name is on the disk only once its folder is synced. */
export async function writeDurable(path: string, bytes: Uint8Array): Promise<void> {
  const fd = openSync(path, "w", 0o600);
  try {
    if (bytes.length <= MAX_BYTES_AT_ONCE) writeFileSync(fd, bytes);
    else await writeAsync(fd, bytes);
    await syncAsync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Brings the names in folders to the disk, those of several changes at once. */
export class FolderSyncs {
  /** The sync of each folder that has not begun yet. */
  readonly #next = new Map<string, Promise<void>>();
  readonly #running = new Map<string, Promise<void>>();

  /** Resolves when all that was changed in a folder up to now is on the disk. */
  async sync(path: string): Promise<void> {
    const next = this.#next.get(path) ?? this.#begin(path);
    this.#next.set(path, next);
    await next;
  }

  async #begin(path: string): Promise<void> {
    // A sync that runs already may have missed the latest change.
    await this.#running.get(path)?.catch(() => undefined);
    this.#next.delete(path);
    const running = syncFolder(path);
    this.#running.set(path, running);
    try {
      await running;
    } finally {
      if (this.#running.get(path) === running) this.#running.delete(path);
    }
  }
}

async function syncFolder(path: string): Promise<void> {
  const fd = openSync(path, "r");
  try {
    await syncAsync(fd);
  } finally {
    closeSync(fd);
  }
}
