// How many statements run at the same time, for each cluster and for the organizations that share quotas. Each process
// counts its own.
import { ApiError } from "../../../api/jsonapi/errors.ts";
import { QUERIES_PER_CLUSTER, QUERIES_PER_FAMILY } from "./limits.ts";

export class QuerySlots {
  readonly #running = new Map<string, number>();

  /**
   * Takes a slot.
   * @returns a function that gives it back.
   * @throws ApiError 429
   */
  take(familyId: string, clusterId: string): () => void {
    if (this.#of(clusterId) >= QUERIES_PER_CLUSTER || this.#of(familyId) >= QUERIES_PER_FAMILY) {
      throw new ApiError(
        429,
        `At most ${QUERIES_PER_CLUSTER} statements run at a time in a cluster, and ${QUERIES_PER_FAMILY} in an organization.`,
        { headers: { "Retry-After": "1" } },
      );
    }
    this.#add(clusterId, 1);
    this.#add(familyId, 1);
    return () => {
      this.#add(clusterId, -1);
      this.#add(familyId, -1);
    };
  }

  #of(id: string): number {
    return this.#running.get(id) ?? 0;
  }

  #add(id: string, change: number): void {
    const count = this.#of(id) + change;
    if (count === 0) this.#running.delete(id);
    else this.#running.set(id, count);
  }
}
