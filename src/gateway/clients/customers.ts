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
  readonly isClosed: boolean;
  close(): void;
}

/** Clients of an address with more than this share of all customers are closed first. */
const DOMINANT_SHARE = 1 / 2;
/** The share of the candidates of a route that is closed before the route is chosen anew. */
const SLICE_SHARE = 1 / 2;

/** Clients with an engine are busy, the others wait. */
const GROUPS = ["waiting", "busy"] as const;
type Group = (typeof GROUPS)[number];

/** How many clients of a route may be closed. */
type Tally = { route: string } & Record<Group, number>;

export class Customers<Client extends Customer> {
  /** The clients of each route with their networks, which are found once: a search looks at all clients many times. */
  readonly #byRoute = new Map<string, Map<Client, string>>();
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
    const customers = this.#byRoute.get(route) ?? new Map<Client, string>();
    if (customers.has(client)) return true;
    if (customers.size >= most) return false;
    const host = hostOf(client.address);
    this.#byRoute.set(route, customers.set(client, host));
    this.#size += 1;
    this.#count(host, 1);
    return true;
  }

  /** May be called again. */
  remove(route: string, client: Client): void {
    const customers = this.#byRoute.get(route);
    const host = customers?.get(client);
    if (customers === undefined || host === undefined) return;
    customers.delete(client);
    if (customers.size === 0) this.#byRoute.delete(route);
    this.#size -= 1;
    this.#count(host, -1);
  }

  /**
   * Closes connections until they have freed so many descriptors, or none is left. Waiting clients have no engine, busy
   * clients have one. Whichever of both groups has more descriptors loses clients, first on its fullest route. So many
   * waiting clients push out no busy client, however many routes they use, and many busy clients no waiting client.
   */
  shed(descriptors: number): void {
    const host = this.#dominantHost();
    const freed = host === null ? 0 : this.#shedOf(host, descriptors);
    if (freed < descriptors) this.#shedOf(null, descriptors - freed);
  }

  /** Closes clients of a network, or of all networks. @returns the count of freed descriptors. */
  #shedOf(host: string | null, descriptors: number): number {
    // Counted once: others wait meanwhile, and there can be thousands of routes.
    const tallies = [...this.#byRoute.keys()].map((route) => this.#tally(route, host));
    let freed = 0;
    while (freed < descriptors) {
      const [index, group] = fullestOf(tallies);
      const tally = tallies[index];
      if (tally === undefined) break;
      freed += this.#cut(tally.route, host, { group, descriptors: descriptors - freed });
      tallies[index] = this.#tally(tally.route, host);
    }
    return freed;
  }

  /** The clients of a route that may be closed. */
  #candidates(route: string, host: string | null): Client[] {
    return [...(this.#byRoute.get(route) ?? [])].flatMap(([client, own]) =>
      host === null || own === host ? [client] : [],
    );
  }

  #tally(route: string, host: string | null): Tally {
    const candidates = this.#candidates(route, host);
    const busy = candidates.filter(({ isAttached }) => isAttached).length;
    return { route, busy, waiting: candidates.length - busy };
  }

  /** Closes a part of a route, clients without an engine first. @returns the count of freed descriptors. */
  #cut(
    route: string,
    host: string | null,
    { group, descriptors }: { group: Group; descriptors: number },
  ): number {
    const clients = this.#candidates(route, host);
    const candidates = group === "busy" ? clients : clients.filter(({ isAttached }) => !isAttached);
    const most = Math.ceil(candidates.length * SLICE_SHARE);
    let freed = 0;
    for (const client of candidates.sort(bySilence).slice(0, most)) {
      if (freed >= descriptors) break;
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

  #count(host: string, change: 1 | -1): void {
    const count = (this.#perHost.get(host) ?? 0) + change;
    if (count === 0) this.#perHost.delete(host);
    else this.#perHost.set(host, count);
  }
}

/** The group with more descriptors, and the place of its fullest route; -1 when there are no clients. */
function fullestOf(tallies: readonly Tally[]): [index: number, group: Group] {
  const total = { waiting: 0, busy: 0 };
  const fullest = { waiting: -1, busy: -1 };
  for (const [index, tally] of tallies.entries()) {
    for (const group of GROUPS) {
      total[group] += tally[group];
      if (tally[group] > (tallies[fullest[group]]?.[group] ?? 0)) fullest[group] = index;
    }
  }
  const group = 2 * total.busy > total.waiting ? "busy" : "waiting";
  return [fullest[group], group];
}

/** Sorts clients without an engine first: they have asked for nothing yet, or their cache sleeps. */
function bySilence(one: Customer, other: Customer): number {
  return Number(one.isAttached) - Number(other.isAttached) || one.usedAtMs - other.usedAtMs;
}

/** The network under which an address with its port is counted. */
export function hostOf(address: string): string {
  return networkOf(address.slice(0, address.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1"));
}
