// The pushes that go on in a repository, and what killed ones have left in it.
import type { Places } from "../lib/places.ts";
import { PushRecord } from "./push-records.ts";
import type { RepositoryStorage } from "./storage.ts";
import { WriteLock } from "./write-lock.ts";

/** The pushes of one repository. */
export class Pushes {
  readonly #repository: string;
  readonly #storage: RepositoryStorage;
  /** The place of what else writes in the repository: uploads, fetches and the collection of garbage. */
  readonly #writing: Places;
  #begun = 0;
  #ended = 0;

  constructor(repository: string, storage: RepositoryStorage, writing: Places) {
    this.#repository = repository;
    this.#storage = storage;
    this.#writing = writing;
  }

  /** Notes that a push has begun. @returns a function for its end, which removes what it left when it was killed. */
  begin(): () => Promise<void> {
    this.#begun += 1;
    return async () => {
      this.#ended += 1;
      if (this.#areGoingOn) return;
      await this.#storage.removePushed();
      await this.removeLocks();
    };
  }

  get #areGoingOn(): boolean {
    return this.#begun > this.#ended;
  }

  /**
   * Removes the locks that killed pushes have left, with which git refuses each later push to the same branch. While
   * something else writes, this is done at its end, and not waited for.
   */
  async removeLocks(): Promise<void> {
    // Where it fails, the end of the next push tries it again.
    await this.#writing.runUnawaited(() => this.#removeLocks()).catch(() => {});
  }

  async #removeLocks(): Promise<void> {
    const begun = this.#begun;
    // A control plane that was killed may have left a git that still writes.
    using lock = new WriteLock(this.#repository);
    if (this.#areGoingOn || !lock.isFree || (await PushRecord.isHeldElsewhere(this.#repository))) return;
    const locks = await this.#storage.locks();
    // A push that has begun meanwhile may hold one of them. A later push cannot: git takes no lock that is there.
    if (this.#begun === begun) await this.#storage.removeAll(locks);
  }
}
