// How long instances behind the edge have had no request, from what the edge reports about its routes.
import type { Observation } from "../../contracts/observation.ts";
import { USE_MEMORY_MS, type RouteUse } from "../../engines/edge.ts";

/** After a longer silence, the edge may have forgotten a request before it could report it. */
const MAX_SILENCE_MS = USE_MEMORY_MS / 2;

export class InstanceUse {
  readonly #usedAtMs = new Map<string, number>();
  /** The instances that have served since their latest start by order or wake. */
  readonly #served = new Set<string>();
  #measuredAtMs = Number.NEGATIVE_INFINITY;

  /** Takes a report of the edge. @param instancesOf the instances that a route leads to. */
  measured(usage: ReadonlyMap<string, RouteUse>, instancesOf: (route: string) => readonly string[]): void {
    const nowMs = performance.now();
    if (this.#isSilent(nowMs)) this.#usedAtMs.clear();
    this.#measuredAtMs = nowMs;
    for (const [route, { openRequests, idleMs }] of usage) {
      const usedAtMs = openRequests > 0 ? nowMs : nowMs - idleMs;
      for (const instance of instancesOf(route))
        this.#usedAtMs.set(instance, Math.max(usedAtMs, this.#usedAtMs.get(instance) ?? nowMs));
    }
  }

  /** The idle time of an instance, counted from the first question at most; 0 while the edge says nothing. */
  idleSeconds(instance: string): number {
    const nowMs = performance.now();
    if (this.#isSilent(nowMs)) return 0;
    const usedAtMs = this.#usedAtMs.get(instance) ?? nowMs;
    this.#usedAtMs.set(instance, usedAtMs);
    return (nowMs - usedAtMs) / 1_000;
  }

  /** An instance has changed. Its idle time begins anew with each start, such as a wake, but not after a crash. */
  changed({ id, state }: Pick<Observation, "id" | "state">): void {
    if (state === "running") return void this.#served.add(id);
    // A process that ends now and then would otherwise be idle for no longer than it lives, and never sleep.
    if (state === "starting" && this.#served.has(id)) return;
    this.#served.delete(id);
    this.forget(id);
  }

  /** The idle time of an instance begins anew. */
  forget(instance: string): void {
    this.#usedAtMs.delete(instance);
  }

  /** Another edge counts anew, so the latest requests of the former are not known. */
  reset(): void {
    this.#usedAtMs.clear();
    this.#measuredAtMs = Number.NEGATIVE_INFINITY;
  }

  #isSilent(nowMs: number): boolean {
    return nowMs - this.#measuredAtMs > MAX_SILENCE_MS;
  }
}
