// Clients that have logged in: their count per instance, and the order of closing when there is no room for all.
import { networkOf } from "../../lib/network.ts";

/** A client whose connection may be closed. */
export interface Customer {
  /** Address and port. */
  readonly address: string;
  /** Whether the client is connected to an engine, which takes a second descriptor. */
  readonly isAttached: boolean;
  /** When the client or its engine sent bytes last, by the gateway's clock, in milliseconds. */
  readonly usedAtMs: number;
  close(): void;
}

/** Clients of an address with more than this share of all customers are closed first. */
const DOMINANT_SHARE = 1 / 2;
/** The share of the candidates of a route that is closed before the route is chosen anew. */
const SLICE_SHARE = 1 / 2;

export class Customers<Client extends Customer> {
  readonly #byRoute = new Map<string, Set<Client>>();
  readonly #perHost = new Map<string, number>();
  readonly #dismiss: (client: Client, route: string) => void;
  #size = 0;

  /** @param dismiss ends the connection of a client at once. */
  constructor(dismiss: (client: Client, route: string) => void) {
    this.#dismiss = dismiss;
  }

  get size(): number {
    return this.#size;
  }

  /** How many clients of a route have logged in. */
  countOf(route: string): number {
    return this.#byRoute.get(route)?.size ?? 0;
  }

  /** @returns false when the route has `most` clients already. */
  add(route: string, client: Client, most: number): boolean {
    const customers = this.#byRoute.get(route) ?? new Set();
    if (customers.has(client)) return true;
    if (customers.size >= most) return false;
    this.#byRoute.set(route, customers.add(client));
    this.#size += 1;
    this.#count(client, 1);
    return true;
  }

  /** May be called again. */
  remove(route: string, client: Client): void {
    const customers = this.#byRoute.get(route);
    if (customers?.delete(client) !== true) return;
    if (customers.size === 0) this.#byRoute.delete(route);
    this.#size -= 1;
    this.#count(client, -1);
  }

  /**
   * Closes connections until they have freed so many descriptors, or none is left. Clients without an engine go first,
   * of whichever route: a crowd of them costs its owner nothing, also where it is spread over many routes.
   */
  shed(descriptors: number): void {
    for (let missing = descriptors; missing > 0 && this.#size > 0;)
      missing -= this.#shedFullest(missing, false) || this.#shedFullest(missing, true);
  }

  /**
   * Closes a part of the route with the most candidates, the longest silent first.
   * @param areAttached whether the candidates are the clients with an engine, or those without.
   * @returns the count of freed descriptors, 0 when there is no candidate.
   */
  #shedFullest(missing: number, areAttached: boolean): number {
    const host = this.#dominantHost();
    let fullest: [string, Client[]] = ["", []];
    for (const [route, customers] of this.#byRoute) {
      if (customers.size <= fullest[1].length) continue;
      const candidates = [...customers].filter(
        ({ address, isAttached }) =>
          isAttached === areAttached && (host === null || hostOf(address) === host),
      );
      if (candidates.length > fullest[1].length) fullest = [route, candidates];
    }
    const [route, candidates] = fullest;
    const most = Math.ceil(candidates.length * SLICE_SHARE);
    let freed = 0;
    for (const client of candidates.sort(bySilence).slice(0, most)) {
      if (freed >= missing) break;
      freed += client.isAttached ? 2 : 1;
      this.remove(route, client);
      this.#dismiss(client, route);
    }
    return freed;
  }

  /** The network with more than `DOMINANT_SHARE` of all customers, if any; behind a proxy all clients are of it. */
  #dominantHost(): string | null {
    for (const [host, count] of this.#perHost) if (count > this.#size * DOMINANT_SHARE) return host;
    return null;
  }

  #count({ address }: Client, change: 1 | -1): void {
    const host = hostOf(address);
    const count = (this.#perHost.get(host) ?? 0) + change;
    if (count === 0) this.#perHost.delete(host);
    else this.#perHost.set(host, count);
  }
}

function bySilence(one: Customer, other: Customer): number {
  return one.usedAtMs - other.usedAtMs;
}

/** The network under which an address with its port is counted. */
export function hostOf(address: string): string {
  return networkOf(address.slice(0, address.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1"));
}
