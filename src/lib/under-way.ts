// Bounds how many requests of a client are under way at once: each holds memory, a connection, and its part of every
// check of all connections, as long as its client likes.

/** The requests of all clients that are under way. */
export class UnderWay {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  /** @param most requests of a client at once. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Begins a request, which counts for nobody so far. */
  begin(): Claim {
    return new Claim(this.#counts, this.#most);
  }
}

/** What a request counts for. */
class Claim {
  readonly #counts: Map<string, number>;
  readonly #most: number;
  readonly #clients: string[] = [];

  constructor(counts: Map<string, number>, most: number) {
    this.#counts = counts;
    this.#most = most;
  }

  /**
   * Has the request count for a client, until it ends.
   * @param kind what the name is, since clients choose some names themselves.
   * @param name empty for nobody.
   * @returns false when the client has too many already.
   */
  countFor(kind: "credentials" | "organization", name: string): boolean {
    if (name === "") return true;
    const client = `${kind} ${name}`;
    const before = this.#counts.get(client) ?? 0;
    if (before >= this.#most) return false;
    this.#counts.set(client, before + 1);
    this.#clients.push(client);
    return true;
  }

  end(): void {
    for (const client of this.#clients.splice(0)) {
      const left = (this.#counts.get(client) ?? 0) - 1;
      if (left > 0) this.#counts.set(client, left);
      else this.#counts.delete(client);
    }
  }
}
