// What the keeper remembers about a target while the target cannot be reached: that it was used, and what to delete.
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../../lib/files.ts";
import { sha256Hex } from "../../lib/secrets.ts";

export class TargetNotes {
  readonly #usedFile: string;
  readonly #deletionsFile: string;
  readonly #deletions: Set<string>;

  /** @param folder the keeper's own. */
  constructor(folder: string, target: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const base = join(folder, sha256Hex(target).slice(0, 16));
    this.#usedFile = `${base}.used`;
    this.#deletionsFile = `${base}.deletions`;
    this.#deletions = new Set(linesOf(this.#deletionsFile));
  }

  get wasUsed(): boolean {
    return existsSync(this.#usedFile);
  }

  noteUse(): void {
    if (!this.wasUsed) replaceFile(this.#usedFile, "", 0o600);
  }

  /** Objects that must still be deleted there. */
  get deletions(): string[] {
    return [...this.#deletions];
  }

  /** Whether an object must still be deleted there. */
  isDeleted(name: string): boolean {
    return this.#deletions.has(name);
  }

  addDeletion(name: string): void {
    if (this.#deletions.has(name)) return;
    appendFileSync(this.#deletionsFile, `${name}\n`, { mode: 0o600 });
    this.#deletions.add(name);
  }

  /** Objects that are deleted there by now, or that were stored again. */
  dropDeletions(names: string[]): void {
    const dropped = names.filter((name) => this.#deletions.delete(name));
    if (dropped.length === 0) return;
    if (this.#deletions.size === 0) rmSync(this.#deletionsFile, { force: true });
    else replaceFile(this.#deletionsFile, this.deletions.map((name) => `${name}\n`).join(""), 0o600);
  }
}

/** A line without its end was cut short by a kill. */
function linesOf(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}
