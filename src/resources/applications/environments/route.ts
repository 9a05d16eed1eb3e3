// The route of an environment during a run of its reconciler: the run says where it leads, the store how it does so now.
import { isDeepStrictEqual } from "node:util";
import type { EdgeRoute } from "../../../contracts/edge-route.ts";
import type { EdgeSettings } from "../../../lib/edge-settings.ts";
import { Mutex } from "../../../lib/mutex.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { ensureAnswered, ensureRoute, routeTo } from "../edge.ts";
import { loadEnvironment, type EnvironmentRow } from "./store.ts";

/** What a route needs: the edge of its host, and the present row of its environment. */
interface RouteParts {
  host: Pick<ServedHost, "driver">;
  edge: EdgeSettings;
  load(): Promise<EnvironmentRow | undefined>;
}

/**
 * A run may take as long as a deploy command, and the firewall cannot wait for it. The settings are read just before each
 * change of the route, and changes come one after the other, so none brings back settings of before.
 */
export class EnvironmentRoute {
  readonly #parts: RouteParts;
  readonly #changes = new Mutex();
  /** Null until the run has led the address anywhere. */
  #instances: readonly string[] | null = null;
  /** The environment as the latest change had it. */
  #environment: EnvironmentRow | null = null;
  /** What the edge has; null while that is not known. */
  #present: EdgeRoute | null = null;
  #isOver = false;

  constructor(parts: RouteParts) {
    this.#parts = parts;
  }

  /** The route of an environment with the settings that the store has. */
  static of({ db, edge }: KindContext, host: ServedHost, id: string): EnvironmentRoute {
    return new EnvironmentRoute({ host, edge, load: () => loadEnvironment(db, id) });
  }

  /**
   * Leads the name of the environment to instances; without any, the edge answers that nothing runs there.
   * @throws UnreachableError when the edge does not take it now.
   */
  async lead(instances: readonly string[]): Promise<void> {
    await this.#changes.run(async () => {
      this.#instances = instances;
      await this.#bring(instances);
    });
  }

  /** Brings settings that have changed since to the edge. @param seen the environment, read lately. */
  async follow(seen: EnvironmentRow): Promise<void> {
    if (this.#instances === null || this.#isPresent(seen, this.#instances)) return;
    await this.#changes.run(async () => {
      if (this.#isOver || this.#instances === null) return;
      await this.#bring(this.#instances);
    });
  }

  /** Asks the address as `ensureAnswered` does, unless it is not served. @throws as `ensureAnswered`. */
  async ensureAnswered(wanted: { path: string | null; ports: readonly number[] }): Promise<void> {
    const { host, edge } = this.#parts;
    const environment = this.#environment;
    if (environment === null) return;
    try {
      await ensureAnswered(host, edge, environment, wanted);
    } catch (error) {
      // The address was taken from the edge while it was asked.
      if (this.#environment?.settings.uses_vanity_domain === true) throw error;
    }
  }

  /** Resolves when nothing of the run changes the route any more. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#changes.run(() => Promise.resolve());
  }

  #isPresent(environment: EnvironmentRow, instances: readonly string[]): boolean {
    return isDeepStrictEqual(this.#present, routeTo(environment, this.#parts.edge, instances));
  }

  async #bring(instances: readonly string[]): Promise<void> {
    const { host, edge, load } = this.#parts;
    const environment = await load();
    if (environment === undefined) throw new Error("the environment of the route is gone");
    this.#environment = environment;
    this.#present = null;
    const route = routeTo(environment, edge, instances);
    await ensureRoute(host, route);
    this.#present = route;
  }
}
