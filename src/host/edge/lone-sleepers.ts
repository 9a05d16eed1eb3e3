// Instances that have fallen asleep before the other instances of their route: the next use of the route wakes them.
import type { Observation } from "../../contracts/observation.ts";
import { wokenByRequest } from "../../contracts/wake-reasons.ts";
import type { RouteUse } from "../../engines/edge.ts";
import type { Routes } from "./routes.ts";
import type { EdgeInstance } from "./wake-queue.ts";

export class LoneSleepers {
  /** When instances fell asleep, as far as this host has seen it. */
  readonly #asleepAtMs = new Map<string, number>();

  /** An instance has changed. */
  changed({ id, state }: Pick<Observation, "id" | "state">): void {
    if (state !== "asleep") this.#asleepAtMs.delete(id);
    else if (!this.#asleepAtMs.has(id)) this.#asleepAtMs.set(id, performance.now());
  }

  /** Wakes all instances of routes that were used after these fell asleep. */
  wakeUsed(
    usage: ReadonlyMap<string, RouteUse>,
    routes: Routes,
    find: (id: string) => EdgeInstance | null,
  ): void {
    const nowMs = performance.now();
    for (const [route, { openRequests, idleMs }] of usage) {
      const usedAtMs = nowMs - (openRequests > 0 ? 0 : idleMs);
      for (const id of routes.get(route)?.instances ?? []) {
        const asleepAtMs = this.#asleepAtMs.get(id) ?? usedAtMs;
        if (usedAtMs > asleepAtMs) find(id)?.wake(wokenByRequest(""));
      }
    }
  }
}
