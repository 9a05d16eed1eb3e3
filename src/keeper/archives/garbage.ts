// Deletes what killed keepers left: archives whose deletion was begun, and parts of backups that never came to be.
import type { Archives } from "./archives.ts";
import type { Contents } from "./loading.ts";

/** So long the host may take to declare a backup complete whose stream is stored. */
const LEFTOVER_MS = 3_600_000;

type Deletions = Pick<Archives, "finishDeletion" | "isActive" | "deleteLeftover">;

export class Garbage {
  readonly #archives: Deletions;
  readonly #leftoverMs: number;
  /** When each leftover was first seen, by its name. */
  #seen = new Map<string, number>();

  constructor(archives: Deletions, leftoverMs = LEFTOVER_MS) {
    this.#archives = archives;
    this.#leftoverMs = leftoverMs;
  }

  /** Looks through what the targets have; a leftover that stays for an hour is deleted. */
  async collect({ deleted, leftovers }: Pick<Contents, "deleted" | "leftovers">, now: number): Promise<void> {
    for (const id of deleted) await this.#archives.finishDeletion(id);
    const seen = new Map<string, number>();
    for (const { archive, backup } of leftovers) {
      // The time begins when its stream has ended: a large backup is stored for longer.
      if (this.#archives.isActive(archive, backup)) continue;
      const key = `${archive}/${backup}`;
      const since = this.#seen.get(key) ?? now;
      const isDue = now - since >= this.#leftoverMs;
      if (!isDue || !(await this.#archives.deleteLeftover(archive, backup))) seen.set(key, since);
    }
    this.#seen = seen;
  }
}
