// Bounds the gateway's connections, and closes some of them when descriptors get scarce.
import { Customers, type Customer } from "./customers.ts";
import { PreAuthLimit } from "./pre-auth-limit.ts";

/** The most sockets of clients before their login; above it, each new socket closes an older socket. */
const MAX_PRE_AUTH = 8_192;
/** The share of all descriptors that clients before their login get at most, and keep when customers need the room. */
const PRE_AUTH_SHARE = 1 / 2;
const LEAST_PRE_AUTH_SHARE = 1 / 16;
/** Descriptors besides the sockets of clients and engines: files, the loop, the link with the host. */
const OWN_DESCRIPTORS = 64;
/** The share that is kept free for the next clients, engines and listeners. */
const RESERVE_SHARE = 1 / 16;
/** The share that is freed at a time, so that not each new connection causes a search through all clients. */
const RELIEF_SHARE = 1 / 32;

export class ConnectionLimits<Client extends Customer> {
  readonly #openFiles: number;
  readonly #preAuth: PreAuthLimit<Client>;
  readonly #customers: Customers<Client>;
  /** The clients that are served no more and have not closed their connection yet, in the order of their end. */
  readonly #disconnecting = new Set<Client>();

  /**
   * @param openFiles the process's limit of descriptors.
   * @param dismiss ends the connection of a customer at once.
   */
  constructor(openFiles: number, dismiss: (client: Client, route: string) => void) {
    this.#openFiles = openFiles;
    this.#preAuth = new PreAuthLimit(Math.min(MAX_PRE_AUTH, Math.floor(openFiles * PRE_AUTH_SHARE)));
    this.#customers = new Customers(dismiss);
  }

  /** Counts a new client before its login. @param route the id of the instance behind the client's address. */
  arrived(route: string, client: Client): void {
    this.#preAuth.add(route, client);
  }

  /** Counts a client that has logged in. @returns false when the route has its `most` clients already. */
  identified(route: string, client: Client, most: number): boolean {
    if (!this.#customers.add(route, client, most)) return false;
    this.#preAuth.remove(route, client);
    return true;
  }

  /** How many clients of a route have logged in. */
  countOf(route: string): number {
    return this.#customers.countOf(route);
  }

  /** The client is served no more. */
  left(route: string, client: Client): void {
    this.#preAuth.remove(route, client);
    this.#customers.remove(route, client);
    if (!client.isClosed) this.#disconnecting.add(client);
  }

  /** The connection of the client is closed. */
  closed(client: Client): void {
    this.#disconnecting.delete(client);
  }

  /** How many sockets may be open before some are closed. @param listeners the count of listening sockets. */
  room(listeners: number): number {
    const share = this.#openFiles * (1 - RESERVE_SHARE) - OWN_DESCRIPTORS - listeners;
    return Math.max(1, Math.floor(share));
  }

  /**
   * Closes connections until there is room again: first of clients that are served no more, then of clients before their
   * login, then of customers.
   * @param sockets how many are open.
   */
  relieve(sockets: number, listeners: number): void {
    let excess = sockets - this.room(listeners);
    if (excess <= 0) return;
    excess += Math.ceil(this.#openFiles * RELIEF_SHARE);
    for (const client of this.#disconnecting) {
      if (excess <= 0) return;
      this.#disconnecting.delete(client);
      client.close();
      excess -= 1;
    }
    const spare = Math.ceil(this.#openFiles * LEAST_PRE_AUTH_SHARE);
    while (excess > 0 && this.#preAuth.size > spare) {
      this.#preAuth.dropOne();
      excess -= 1;
    }
    this.#customers.shed(excess);
  }
}
