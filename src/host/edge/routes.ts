// The routes of the edge in memory: who has which name, and which routes lead to an instance.
import type { EdgeRoute, KeptRoute } from "../../contracts/edge-route.ts";
import type { EdgeTable, EdgeTarget } from "../../engines/edge.ts";

/** The most routes of a host, so that a mistake of the control plane does not fill the disk. */
export const MAX_ROUTES = 20_000;

export class EdgeRoutes {
  readonly #routes = new Map<string, EdgeRoute>();
  /** The route that each name leads to: the route that asked for it last. */
  readonly #owners = new Map<string, string>();
  readonly #ofInstance = new Map<string, Set<string>>();
  /** Since which sequence a route has its version of the cache. */
  readonly #cacheVersions = new Map<string, { version: string | null; since: number }>();
  /** The latest target of each route: of thousands, a change touches a few. */
  readonly #targets = new Map<string, { route: EdgeRoute; target: EdgeTarget }>();
  #sequence = 0;

  /** Takes routes up in their order. */
  load(kept: readonly KeptRoute[]): void {
    for (const { sequence, route } of kept) {
      this.#sequence = Math.max(this.#sequence, sequence);
      this.put(route);
    }
  }

  /** The sequence of the next route that is kept. */
  nextSequence(): number {
    return (this.#sequence += 1);
  }

  get(id: string): EdgeRoute | undefined {
    return this.#routes.get(id);
  }

  /** Whether another route has room. */
  get isFull(): boolean {
    return this.#routes.size >= MAX_ROUTES;
  }

  all(): EdgeRoute[] {
    return [...this.#routes.values()];
  }

  /** The ids of the routes that lead to an instance. */
  ofInstance(instance: string): ReadonlySet<string> {
    return this.#ofInstance.get(instance) ?? NONE;
  }

  /**
   * Adds a route or replaces it. It takes its names from other routes.
   * @returns the routes that have lost names, as they are now.
   */
  put(route: EdgeRoute): EdgeRoute[] {
    this.#forget(route.id);
    this.#keepCacheVersion(route);
    const losers = new Set<string>();
    for (const name of route.names) {
      const former = this.#owners.get(name);
      if (former !== undefined) losers.add(former);
      this.#owners.set(name, route.id);
    }
    this.#routes.set(route.id, route);
    for (const instance of route.instances) this.#index(instance).add(route.id);
    return [...losers].flatMap((id) => this.#withoutLost(id));
  }

  remove(id: string): void {
    this.#forget(id);
    this.#cacheVersions.delete(id);
  }

  #forget(id: string): void {
    const route = this.#routes.get(id);
    if (route === undefined) return;
    this.#routes.delete(id);
    this.#targets.delete(id);
    for (const name of route.names) if (this.#owners.get(name) === id) this.#owners.delete(name);
    for (const instance of route.instances) {
      const others = this.#index(instance);
      others.delete(id);
      if (others.size === 0) this.#ofInstance.delete(instance);
    }
  }

  /**
   * What the edge is to have. A target that is as in the table before is the same object.
   * @param portOf the port of an instance that runs and has a port, and 0 for any other.
   */
  table(portOf: (instance: string) => number): EdgeTable {
    const targets: EdgeTable["targets"] = new Map();
    for (const route of this.#routes.values()) {
      const ports = route.instances.map(portOf).filter((port) => port > 0);
      targets.set(route.id, this.#targetOf(route, ports));
    }
    return { names: new Map(this.#owners), targets };
  }

  #targetOf(route: EdgeRoute, ports: number[]): EdgeTarget {
    const { id, settings } = route;
    const known = this.#targets.get(id);
    if (known?.route === route && isSame(known.target.ports, ports)) return known.target;
    const policy = { ...settings.policy, cacheVersion: this.#cacheVersionOf(id) };
    const target = { ports, isAlone: route.instances.length === 1, ...settings, policy };
    this.#targets.set(id, { route, target });
    return target;
  }

  #keepCacheVersion({ id, settings }: EdgeRoute): void {
    const version = settings.policy.cacheVersion;
    if (this.#cacheVersions.get(id)?.version !== version)
      this.#cacheVersions.set(id, { version, since: this.#sequence });
  }

  /**
   * A route that returns to an earlier version gets a new suffix: the entries of the first use were never invalidated.
   */
  #cacheVersionOf(id: string): string | null {
    const { version = null, since = 0 } = this.#cacheVersions.get(id) ?? {};
    return version === null ? null : `${version}.${since}`;
  }

  #index(instance: string): Set<string> {
    const known = this.#ofInstance.get(instance) ?? new Set();
    this.#ofInstance.set(instance, known);
    return known;
  }

  #withoutLost(id: string): EdgeRoute[] {
    const route = this.#routes.get(id);
    if (route === undefined) return [];
    const names = route.names.filter((name) => this.#owners.get(name) === id);
    const left = { ...route, names };
    this.#routes.set(id, left);
    return [left];
  }
}

const NONE: ReadonlySet<string> = new Set();

function isSame(ports: readonly number[], others: readonly number[]): boolean {
  return ports.length === others.length && ports.every((port, at) => port === others[at]);
}
