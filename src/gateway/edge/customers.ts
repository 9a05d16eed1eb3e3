// Clients that have said who they are: how many an instance has, and who goes first when there is no room for all.
import { networkOf } from "../../lib/network.ts";

/** A client that may be ended. */
export interface Customer {
  /** Address and port. */
  readonly address: string;
  /** Whether it is connected to an engine, which takes a second descriptor. */
  readonly isAttached: boolean;
  /** When it or its engine said something last, by the time of the loop, in milliseconds. */
  readonly usedAtMs: number;
  close(): void;
}

/** An address that has more of all customers than this goes before all others. */
const DOMINANT_SHARE = 1 / 2;
/** How much of the fullest route goes before the fullest is looked for anew. */
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

  /** @returns false when the route has `most` already. */
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

  /** Ends connections until so many descriptors are free. */
  shed(descriptors: number): void {
    for (let missing = descriptors; missing > 0 && this.#size > 0;) missing -= this.#shedFullest(missing);
  }

  /** Ends some of the fullest route, those first that have been silent longest. @returns how many descriptors that frees. */
  #shedFullest(missing: number): number {
    const host = this.#dominantHost();
    let fullest: [string, Client[]] = ["", []];
    for (const [route, customers] of this.#byRoute) {
      if (customers.size <= fullest[1].length) continue;
      const candidates = [...customers].filter(({ address }) => host === null || hostOf(address) === host);
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

  /** Behind a proxy, or on one machine, all have one address, and none is passed over. */
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

/** Clients that no engine serves go first; they have asked for nothing yet, or their cache sleeps. */
function bySilence(one: Customer, other: Customer): number {
  return Number(one.isAttached) - Number(other.isAttached) || one.usedAtMs - other.usedAtMs;
}

/** What an address with its port counts for. */
export function hostOf(address: string): string {
  return networkOf(address.slice(0, address.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1"));
}
