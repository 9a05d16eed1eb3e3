// Instances that fall asleep before the other instances of their route: the next use of the route wakes them.
import type { Observation } from "../../contracts/observation.ts";
import { wokenByRequest } from "../../contracts/wake-reasons.ts";
import type { RouteUse } from "../../engines/edge.ts";
import type { Routes } from "./routes.ts";
import type { EdgeInstance } from "./wake-queue.ts";

/** The requests of a route that no rule has refused. */
interface Admissions {
  /** When the edge began to count, in seconds since 1970; it forgets a route that is not used. */
  since: number;
  count: number;
  /** When the latest began or ended, as far as this host has seen it. */
  latestAtMs: number;
}

export class LoneSleepers {
  /**
   * When instances that sleep or end for a sleep began to, as far as this host has seen it. A process that ends takes up
   * nothing more, and may take its time.
   */
  readonly #endingAtMs = new Map<string, number>();
  /** The admissions of the routes that were used lately. */
  #admissions = new Map<string, Admissions>();

  /** An instance has changed. */
  changed({ id, state }: Pick<Observation, "id" | "state">): void {
    if (state !== "asleep" && state !== "draining") this.#endingAtMs.delete(id);
    else if (!this.#endingAtMs.has(id)) this.#endingAtMs.set(id, performance.now());
  }

  /**
   * Wakes the sleeping instances of routes that were used after these began to fall asleep. A request that was refused is
   * no use.
   */
  wakeUsed(
    usage: ReadonlyMap<string, RouteUse>,
    routes: Routes,
    find: (id: string) => EdgeInstance | null,
  ): void {
    const nowMs = performance.now();
    const former = this.#admissions;
    this.#admissions = new Map();
    for (const [route, use] of usage) {
      const admissions = admissionsOf(use, former.get(route), nowMs);
      this.#admissions.set(route, admissions);
      for (const id of routes.get(route)?.instances ?? []) {
        const endingAtMs = this.#endingAtMs.get(id);
        const isMissed = endingAtMs !== undefined && admissions.latestAtMs > endingAtMs;
        const instance = isMissed ? find(id) : null;
        if (instance?.state === "asleep") instance.wake(wokenByRequest(""));
      }
    }
  }
}

/** An edge that does not count admissions may have admitted each request. */
function admissionsOf(
  { openRequests, idleMs, admitted, counted }: RouteUse,
  former: Admissions | undefined,
  nowMs: number,
): Admissions {
  const usedAtMs = nowMs - (openRequests > 0 ? 0 : idleMs);
  const since = counted?.since ?? 0;
  if (admitted === null) return { since, count: 0, latestAtMs: usedAtMs };
  const { count, latestAtMs } =
    former?.since === since ? former : { count: 0, latestAtMs: Number.NEGATIVE_INFINITY };
  return { since, count: admitted, latestAtMs: admitted === count ? latestAtMs : usedAtMs };
}
