// Deletes what killed keepers left: archives whose deletion was begun, and parts of backups that never came to be.
import type { Archives } from "./archives.ts";
import type { Contents } from "./loading.ts";

/** A backup's stream may pause so long before the host declares it complete. */
const LEFTOVER_MS = 3_600_000;

export class Garbage {
  readonly #archives: Archives;
  readonly #leftoverMs: number;
  /** When each leftover was first seen, by its name. */
  #seen = new Map<string, number>();

  constructor(archives: Archives, leftoverMs = LEFTOVER_MS) {
    this.#archives = archives;
    this.#leftoverMs = leftoverMs;
  }

  /** Looks through what the targets have; a leftover that stays for an hour is deleted. */
  async collect({ deleted, leftovers }: Pick<Contents, "deleted" | "leftovers">, now: number): Promise<void> {
    for (const id of deleted) await this.#archives.finishDeletion(id);
    const seen = new Map<string, number>();
    for (const { archive, backup } of leftovers) {
      const key = `${archive}/${backup}`;
      const since = this.#seen.get(key) ?? now;
      if (now - since < this.#leftoverMs) seen.set(key, since);
      else await this.#archives.deleteLeftover(archive, backup);
    }
    this.#seen = seen;
  }
}
