// Clients that have not said who they are yet: so many of them at most, whoever sends them.

/** A connection that can be ended at once. */
interface Closable {
  close(): void;
}

export class PreAuthLimit<Client extends Closable> {
  readonly #most: number;
  /** In the order in which they came, by the route at which they wait. */
  readonly #crowds = new Map<string, Set<Client>>();
  #size = 0;

  /** @param most beyond which one of them has to go for each that comes. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#size;
  }

  /** @param route the id of the instance that the client came for. */
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

  /** The oldest client of the route that has most, so that a crowd at one route keeps nobody from the others. */
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
