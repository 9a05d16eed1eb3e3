// The channels of one connection: nearly always a few, for which a Map would take most of a connection's memory.

/** Channels by name, each with its user on a presence channel, and null on other channels. */
export class Memberships {
  readonly #names: string[] = [];
  readonly #userIds: (string | null)[] = [];

  get size(): number {
    return this.#names.length;
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  /** The user on a channel; undefined for a channel that was not added. */
  get(name: string): string | null | undefined {
    return this.#userIds[this.#names.indexOf(name)];
  }

  /** Adds a channel that was not added yet. */
  add(name: string, userId: string | null): void {
    this.#names.push(name);
    this.#userIds.push(userId);
  }

  /** @returns the user on the channel; undefined when the channel was not there. */
  delete(name: string): string | null | undefined {
    // When all channels go, the latest goes first.
    const index = this.#names.lastIndexOf(name);
    if (index === -1) return undefined;
    this.#names.splice(index, 1);
    return this.#userIds.splice(index, 1)[0];
  }

  /** The names, the latest first; each may be deleted as it comes. */
  *newestFirst(): Generator<string> {
    for (let index = this.#names.length - 1; index >= 0; index -= 1) yield this.#names[index] ?? "";
  }
}
