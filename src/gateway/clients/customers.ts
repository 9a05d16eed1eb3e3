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
    for (let missing = descriptors; missing > 0 && this.#size > 0;) missing -= this.#shedFullest(missing);
  }

  /** Closes a part of the fullest route, clients without an engine first. @returns the count of freed descriptors. */
  #shedFullest(missing: number): number {
    const [route, candidates] = this.#fullest();
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

  /** The fullest route of the larger group, with those of its clients that may be closed. */
  #fullest(): [route: string, candidates: Client[]] {
    const host = this.#dominantHost();
    const waiting = { total: 0, most: 0, route: "" };
    const busy = { total: 0, most: 0, route: "" };
    for (const [route, customers] of this.#byRoute) {
      const counts = { waiting: 0, busy: 0 };
      for (const [client, own] of customers)
        if (host === null || own === host) counts[client.isAttached ? "busy" : "waiting"] += 1;
      note(waiting, route, counts.waiting);
      note(busy, route, counts.busy);
    }
    const isBusy = 2 * busy.total > waiting.total;
    const { route } = isBusy ? busy : waiting;
    const candidates = [...(this.#byRoute.get(route) ?? [])].flatMap(([client, own]) =>
      (host === null || own === host) && (isBusy || !client.isAttached) ? [client] : [],
    );
    return [route, candidates];
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

/** Counts the clients of a route for a group. */
function note(group: { total: number; most: number; route: string }, route: string, count: number): void {
  group.total += count;
  if (count <= group.most) return;
  group.most = count;
  group.route = route;
}

/** Sorts clients without an engine first: they have asked for nothing yet, or their cache sleeps. */
function bySilence(one: Customer, other: Customer): number {
  return Number(one.isAttached) - Number(other.isAttached) || one.usedAtMs - other.usedAtMs;
}

/** The network under which an address with its port is counted. */
export function hostOf(address: string): string {
  return networkOf(address.slice(0, address.lastIndexOf(":")).replace(/^\[(.*)\]$/, "$1"));
}
