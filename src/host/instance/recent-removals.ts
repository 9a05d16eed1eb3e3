// Remembers which instances were removed. Ids are never reused, so a request for a removed id is a late request.

/** A late request is late by seconds; far fewer instances can be removed in that time. */
const REMEMBERED = 10_000;

export class RecentRemovals {
  readonly #ids = new Set<string>();

  note(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (oldest !== undefined && this.#ids.size > REMEMBERED) this.#ids.delete(oldest);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
