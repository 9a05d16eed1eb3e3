// Limits how many clients that have not logged in yet are connected.

/** A connection that can be ended at once. */
interface Closable {
  close(): void;
}

export class PreAuthLimit<Client extends Closable> {
  readonly #limit: number;
  /** The clients by route, in the order of their arrival. */
  readonly #crowds = new Map<string, Set<Client>>();
  /**
   * The routes by the number of their clients, with the place of each: a flood over thousands of routes causes no search
   * through them.
   */
  readonly #routes: string[][] = [];
  readonly #places = new Map<string, number>();
  /** The greatest of these numbers. */
  #most = 0;
  #size = 0;

  /** @param limit above it, each new client closes an older client. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** @param route the id of the instance behind the client's address. */
  add(route: string, client: Client): void {
    const crowd = this.#crowds.get(route) ?? new Set();
    this.#crowds.set(route, crowd.add(client));
    this.#size += 1;
    this.#moved(route, crowd.size - 1, crowd.size);
    if (this.#size > this.#limit) this.dropOne();
  }

  /** The client has logged in or is gone. May be called again. */
  remove(route: string, client: Client): void {
    const crowd = this.#crowds.get(route);
    if (crowd?.delete(client) !== true) return;
    this.#size -= 1;
    if (crowd.size === 0) this.#crowds.delete(route);
    this.#moved(route, crowd.size + 1, crowd.size);
  }

  /** Closes the oldest client of the fullest route, so that a crowd at one route leaves room at the other routes. */
  dropOne(): void {
    const route = this.#routes[this.#most]?.at(-1) ?? "";
    const [oldest] = this.#crowds.get(route) ?? [];
    if (oldest === undefined) return;
    this.remove(route, oldest);
    oldest.close();
  }

  /** A route has one client more or less than before. */
  #moved(route: string, before: number, now: number): void {
    if (before > 0) this.#takeOut(route, this.#routes[before] ?? []);
    if (now > 0) this.#places.set(route, (this.#routes[now] ??= []).push(route) - 1);
    // The route that left the greatest number has one less now.
    if (now > this.#most || this.#routes[this.#most]?.length === 0) this.#most = now;
  }

  #takeOut(route: string, routes: string[]): void {
    const place = this.#places.get(route) ?? 0;
    this.#places.delete(route);
    const last = routes.pop();
    if (last === undefined || last === route) return;
    routes[place] = last;
    this.#places.set(last, place);
  }
}
