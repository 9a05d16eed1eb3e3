// Instances that fall asleep before the other instances of their route: the next use of the route wakes them.
import type { Observation } from "../../contracts/observation.ts";
import { wokenByRequest } from "../../contracts/wake-reasons.ts";
import type { RouteUse } from "../../engines/edge.ts";
import type { EdgeRoutes } from "./routes.ts";
import type { EdgeInstance } from "./wake-queue.ts";

/** The requests of a route that no rule has refused. */
interface Admissions {
  /** When the edge began to count, in seconds since 1970; it forgets a route that is not used. */
  since: number;
  count: number;
  /** When the latest began or ended, as far as this host has seen it. */
  latestAtMs: number;
  /** When the report came that says so. */
  reportedAtMs: number;
}

/** What the edge has said of the routes that were used lately. */
interface Report {
  usage: ReadonlyMap<string, RouteUse>;
  /** What the edge did before then, the report has. */
  askedAtMs: number;
}

export class LoneSleepers {
  /**
   * The time after which instances that sleep, or end for a sleep, have missed requests: that of the report by which they
   * were idle. A process that ends takes up nothing more, and may take its time.
   */
  readonly #missingSinceMs = new Map<string, number>();
  /** When the latest report was asked for; null before the first. */
  #askedAtMs: number | null = null;
  /** The admissions of the routes that were used lately. */
  #admissions = new Map<string, Admissions>();

  /** An instance has changed. */
  changed({ id, state }: Pick<Observation, "id" | "state">): void {
    if (state !== "asleep" && state !== "draining") this.#missingSinceMs.delete(id);
    else if (!this.#missingSinceMs.has(id))
      this.#missingSinceMs.set(id, this.#askedAtMs ?? performance.now());
  }

  /** Wakes the sleeping instances of routes that were used after they were idle. A request that was refused is no use. */
  wakeUsed(
    { usage, askedAtMs }: Report,
    routes: EdgeRoutes,
    find: (id: string) => EdgeInstance | null,
  ): void {
    this.#askedAtMs = askedAtMs;
    const former = this.#admissions;
    this.#admissions = new Map();
    for (const [route, use] of usage) {
      const admissions = admissionsOf(use, former.get(route), askedAtMs);
      this.#admissions.set(route, admissions);
      for (const id of routes.get(route)?.instances ?? []) {
        const missingSinceMs = this.#missingSinceMs.get(id);
        const isMissed = missingSinceMs !== undefined && admissions.latestAtMs > missingSinceMs;
        const instance = isMissed ? find(id) : null;
        if (instance?.state === "asleep") instance.wake(wokenByRequest(""));
      }
    }
  }
}

/**
 * A request that was not in the former report came after that, whatever the way of the reports took. An edge that does
 * not count admissions may have admitted each request.
 */
function admissionsOf(
  { openRequests, idleMs, admitted, counted }: RouteUse,
  former: Admissions | undefined,
  askedAtMs: number,
): Admissions {
  const reportedAtMs = performance.now();
  const usedAtMs = Math.min(askedAtMs, reportedAtMs - (openRequests > 0 ? 0 : idleMs));
  const since = counted?.since ?? 0;
  if (admitted === null) return { since, count: 0, latestAtMs: usedAtMs, reportedAtMs };
  if (former?.since !== since) {
    const latestAtMs = admitted === 0 ? Number.NEGATIVE_INFINITY : usedAtMs;
    return { since, count: admitted, latestAtMs, reportedAtMs };
  }
  // Two reports may come in another order than they were asked for.
  if (admitted <= former.count) return { ...former, reportedAtMs };
  return { since, count: admitted, latestAtMs: Math.max(usedAtMs, former.reportedAtMs), reportedAtMs };
}
