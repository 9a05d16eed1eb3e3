// What one connection subscribes to: nearly always one channel or a few, for which a Map would be most of its memory.

/** Channels by name, each with the user who is there on a presence channel; null on others. */
export class Memberships {
  readonly #names: string[] = [];
  readonly #userIds: (string | null)[] = [];

  get size(): number {
    return this.#names.length;
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  /** The user on a channel; undefined on one that is not among them. */
  get(name: string): string | null | undefined {
    return this.#userIds[this.#names.indexOf(name)];
  }

  /** Adds a channel that is not among them. */
  add(name: string, userId: string | null): void {
    this.#names.push(name);
    this.#userIds.push(userId);
  }

  /** @returns whether it was among them. */
  delete(name: string): boolean {
    // Those that came last are the first to go when all do.
    const index = this.#names.lastIndexOf(name);
    if (index === -1) return false;
    this.#names.splice(index, 1);
    this.#userIds.splice(index, 1);
    return true;
  }

  /** The names, the last one first; each may be deleted as it comes. */
  *newestFirst(): Generator<string> {
    for (let index = this.#names.length - 1; index >= 0; index -= 1) yield this.#names[index] ?? "";
  }
}
