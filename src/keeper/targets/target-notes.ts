// What the keeper remembers about a target while the target cannot be reached: that it was used, and what to delete.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.ts";
import { replaceFile, syncFile } from "../../lib/files.ts";
import { sha256Hex } from "../../lib/secrets.ts";

/** An object that must still be deleted. */
export interface Deletion {
  name: string;
  /** Another deletion of the same name has another number. */
  number: number;
}

export class TargetNotes {
  readonly #usedFile: string;
  readonly #deletionsFile: string;
  readonly #deletions: Map<string, number>;
  #count = 0;

  /** @param folder the keeper's own. */
  constructor(folder: string, target: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const base = join(folder, sha256Hex(target).slice(0, 16));
    this.#usedFile = `${base}.used`;
    this.#deletionsFile = `${base}.deletions`;
    this.#deletions = new Map(linesOf(this.#deletionsFile).map((name) => [name, (this.#count += 1)]));
  }

  get wasUsed(): boolean {
    return existsSync(this.#usedFile);
  }

  noteUse(): void {
    if (!this.wasUsed) replaceFile(this.#usedFile, "", 0o600);
  }

  /** Objects that must still be deleted there. */
  get deletions(): Deletion[] {
    return [...this.#deletions].map(([name, number]) => ({ name, number }));
  }

  /** Whether any object must still be deleted there. */
  get hasDeletions(): boolean {
    return this.#deletions.size > 0;
  }

  /** Whether an object must still be deleted there. */
  isDeleted(name: string): boolean {
    return this.#deletions.has(name);
  }

  /** The deletions that are noted of a name: one or none. */
  deletionsOf(name: string): Deletion[] {
    const number = this.#deletions.get(name);
    return number === undefined ? [] : [{ name, number }];
  }

  /** Whether a deletion still stands: its object was not stored again, nor deleted once more. */
  stands({ name, number }: Deletion): boolean {
    return this.#deletions.get(name) === number;
  }

  /** Notes a deletion; a power cut may undo that before `save`. */
  addDeletion(name: string): void {
    // A full disk may have taken a part of the line before.
    if (!this.#deletions.has(name)) appendFileSync(this.#deletionsFile, `\n${name}\n`, { mode: 0o600 });
    this.#deletions.set(name, (this.#count += 1));
  }

  /** Resolves when no power cut can undo what was noted. */
  async save(): Promise<void> {
    try {
      await syncFile(this.#deletionsFile);
    } catch (error) {
      // All deletions have been made meanwhile.
      if (codeOf(error) !== "ENOENT") throw error;
    }
  }

  /** Drops deletions of objects that are deleted there by now, or that were stored again; later ones stay. */
  dropDeletions(deletions: Deletion[]): void {
    const dropped = deletions.filter((deletion) => this.stands(deletion));
    for (const { name } of dropped) this.#deletions.delete(name);
    if (dropped.length === 0) return;
    if (this.#deletions.size === 0) rmSync(this.#deletionsFile, { force: true });
    else
      replaceFile(
        this.#deletionsFile,
        [...this.#deletions.keys()].map((name) => `${name}\n`).join(""),
        0o600,
      );
  }
}

/** A line without its end was cut short by a kill. */
function linesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "");
}
