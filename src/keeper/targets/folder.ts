// A folder as a target: each object is a file, which is there as a whole or not at all.
import { renameSync, rmdirSync, rmSync, statSync, type Dirent } from "node:fs";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../../lib/errors.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { MAX_ENVELOPE_BYTES, MAX_PLAIN_BYTES } from "../envelope.ts";
import { DamagedObject, MissingObject, type StoredObject } from "../object-store.ts";
import { FolderSyncs, makeFolders, writeDurable } from "./durable-file.ts";
import { checkName, TargetError, type Target } from "./target.ts";

/** Files are written here first; a name with it is no object. */
const UNFINISHED = "unfinished";
/** How often a folder may go between being made and being used. */
const ATTEMPTS = 3;

const FAULTS: Record<string, string> = {
  ENOSPC: "has no space left",
  EDQUOT: "has no space left",
  EROFS: "is read-only",
  EACCES: "may not be used by the keeper",
  EPERM: "may not be used by the keeper",
  EIO: "has a failing disk",
};

export class FolderTarget implements Target {
  readonly name: string;
  readonly isRemote = false;
  readonly #syncs = new FolderSyncs();
  #writes = 0;

  /** @param path a folder that the keeper may write to. */
  constructor(path: string) {
    this.name = path;
  }

  async clear(): Promise<void> {
    await this.#try(() => rm(join(this.name, UNFINISHED), { recursive: true, force: true }));
  }

  async write(name: string, sealed: Uint8Array): Promise<void> {
    const path = this.#pathOf(name);
    const temporary = join(this.name, UNFINISHED, `${process.pid}.${(this.#writes += 1)}`);
    await this.#try(async () => {
      try {
        await this.#in(UNFINISHED, () => writeDurable(temporary, sealed));
        await failpoint("keeper.folder.written");
        await this.#in(dirname(name), async () => {
          renameSync(temporary, path);
          await this.#syncs.sync(dirname(path));
        });
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
    });
  }

  /**
   * Works in a folder, which is made when it is not there. A deletion may remove the empty folder at the same time. The
   * target itself is never made here: without its disk, the objects would end up on another disk.
   */
  async #in(folder: string, work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (codeOf(error) !== "ENOENT" || attempt === ATTEMPTS) throw error;
      }
      await makeFolders(this.name, folder);
    }
  }

  async read(name: string): Promise<Uint8Array> {
    const path = this.#pathOf(name);
    return await this.#try(async () => {
      try {
        if ((await stat(path)).size > MAX_PLAIN_BYTES + MAX_ENVELOPE_BYTES)
          throw new DamagedObject(name, "it is too large");
        return await readFile(path);
      } catch (error) {
        if (codeOf(error) === "ENOENT" && this.#isThere()) throw new MissingObject(name);
        throw error;
      }
    });
  }

  async list(prefix: string): Promise<StoredObject[]> {
    const found: StoredObject[] = [];
    await this.#try(async () => {
      if (!this.#isThere()) throw new TargetError(this.name, "is not there");
      await this.#collect(folderOf(prefix), prefix, found);
    });
    return found.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async #collect(folder: string, prefix: string, found: StoredObject[]): Promise<void> {
    for (const entry of await entriesOf(join(this.name, folder))) {
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (name === UNFINISHED) continue;
      if (entry.isDirectory()) {
        if (name.startsWith(prefix) || prefix.startsWith(`${name}/`))
          await this.#collect(name, prefix, found);
      } else if (name.startsWith(prefix)) {
        const size = await sizeOf(join(this.name, name));
        if (size !== null) found.push({ name, storedBytes: size });
      }
    }
  }

  async delete(name: string): Promise<void> {
    const path = this.#pathOf(name);
    await this.#try(async () => {
      if (!this.#isThere()) throw new TargetError(this.name, "is not there");
      rmSync(path, { force: true });
      await this.#syncs.sync(dirname(path)).catch(ignoreMissing);
      this.#removeEmpty(dirname(name));
    });
  }

  /** Removes folders from the lowest up to the first that is not empty. */
  #removeEmpty(folder: string): void {
    if (folder === "." || !folder.includes("/")) return;
    try {
      rmdirSync(join(this.name, folder));
    } catch {
      // It is not empty, or was removed already.
      return;
    }
    this.#removeEmpty(dirname(folder));
  }

  #pathOf(name: string): string {
    checkName(name);
    return join(this.name, name);
  }

  #isThere(): boolean {
    return statSync(this.name, { throwIfNoEntry: false })?.isDirectory() === true;
  }

  async #try<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined) throw error;
      const fault = code === "ENOENT" ? "is not there" : (FAULTS[code] ?? `cannot be used (${code})`);
      throw new TargetError(this.name, fault, error);
    }
  }
}

/** A folder that is not there has no entries. */
async function entriesOf(path: string): Promise<Dirent[]> {
  return await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  });
}

/** Null for a file that was deleted meanwhile. */
async function sizeOf(path: string): Promise<number | null> {
  return await stat(path).then(({ size }) => size, ignoreMissing);
}

function ignoreMissing(error: unknown): null {
  if (codeOf(error) === "ENOENT") return null;
  throw error;
}

/** The lowest folder that all names with the prefix are in. */
function folderOf(prefix: string): string {
  const end = prefix.lastIndexOf("/");
  return end === -1 ? "" : prefix.slice(0, end);
}
