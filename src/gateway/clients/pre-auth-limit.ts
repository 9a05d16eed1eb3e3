// Limits how many clients that have not logged in yet are connected.

/** A connection that can be ended at once. */
interface Closable {
  close(): void;
}

export class PreAuthLimit<Client extends Closable> {
  readonly #most: number;
  /** The clients by route, in the order of their arrival. */
  readonly #crowds = new Map<string, Set<Client>>();
  #size = 0;

  /** @param most the limit; above it, each new client closes an older client. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** @param route the id of the instance behind the client's address. */
  add(route: string, client: Client): void {
    const crowd = this.#crowds.get(route) ?? new Set();
    this.#crowds.set(route, crowd.add(client));
    this.#size += 1;
    if (this.#size > this.#most) this.dropOne();
  }

  /** The client has logged in or is gone. May be called again. */
  remove(route: string, client: Client): void {
    const crowd = this.#crowds.get(route);
    if (crowd?.delete(client) !== true) return;
    this.#size -= 1;
    if (crowd.size === 0) this.#crowds.delete(route);
  }

  /** Closes the oldest client of the fullest route, so that a crowd at one route leaves room at the other routes. */
  dropOne(): void {
    let fullest: [string, Set<Client>] | null = null;
    for (const each of this.#crowds) if (each[1].size > (fullest?.[1].size ?? 0)) fullest = each;
    if (fullest === null) return;
    const [route, crowd] = fullest;
    const [oldest] = crowd;
    if (oldest === undefined) return;
    this.remove(route, oldest);
    oldest.close();
  }
}
