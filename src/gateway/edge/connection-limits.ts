// How many connections the gateway holds, and which of them go when descriptors get scarce.
import { Customers, type Customer } from "./customers.ts";
import { PreAuthLimit } from "./pre-auth-limit.ts";

/** Sockets that have not said who they are yet; beyond this one of them has to go for each that comes. */
const MAX_STRANGERS = 8_192;
/** How much of its descriptors the gateway has for them at most, and what of it they keep when customers need the room. */
const STRANGERS_SHARE = 1 / 2;
const LEAST_STRANGERS_SHARE = 1 / 16;
/** What the process opens beside sockets of clients and engines: files, the loop, the link with the host. */
const OWN_DESCRIPTORS = 64;
/** Kept free for the clients, engines and listeners of the next moment. */
const RESERVE_SHARE = 1 / 16;
/** Freed at a time, so that a crowd is not looked through for each connection that comes. */
const RELIEF_SHARE = 1 / 32;

export class ConnectionLimits<Client extends Customer> {
  readonly #openFiles: number;
  readonly #preAuth: PreAuthLimit<Client>;
  readonly #customers: Customers<Client>;

  /**
   * @param openFiles how many descriptors the process may have.
   * @param dismiss ends the connection of a customer at once.
   */
  constructor(openFiles: number, dismiss: (client: Client, route: string) => void) {
    this.#openFiles = openFiles;
    this.#preAuth = new PreAuthLimit(Math.min(MAX_STRANGERS, Math.floor(openFiles * STRANGERS_SHARE)));
    this.#customers = new Customers(dismiss);
  }

  /** A client has come and has not said who it is. @param route the id of the instance that it came for. */
  arrived(route: string, client: Client): void {
    this.#preAuth.add(route, client);
  }

  /** A client has proved who it is. @returns false when the route has as many as it may. */
  identified(route: string, client: Client, most: number): boolean {
    if (!this.#customers.add(route, client, most)) return false;
    this.#preAuth.remove(route, client);
    return true;
  }

  /** The client has gone. */
  left(route: string, client: Client): void {
    this.#preAuth.remove(route, client);
    this.#customers.remove(route, client);
  }

  /** How many sockets may be open before some have to go. @param listeners how many addresses are listened at. */
  room(listeners: number): number {
    const share = this.#openFiles * (1 - RESERVE_SHARE) - OWN_DESCRIPTORS - listeners;
    return Math.max(1, Math.floor(share));
  }

  /** Ends connections until there is room again: of strangers first, then those of customers. @param sockets how many are open. */
  relieve(sockets: number, listeners: number): void {
    let excess = sockets - this.room(listeners);
    if (excess <= 0) return;
    excess += Math.ceil(this.#openFiles * RELIEF_SHARE);
    const spare = Math.ceil(this.#openFiles * LEAST_STRANGERS_SHARE);
    while (excess > 0 && this.#preAuth.size > spare) {
      this.#preAuth.dropOne();
      excess -= 1;
    }
    this.#customers.shed(excess);
  }
}
