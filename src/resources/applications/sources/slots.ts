// Bounds what runs for sources at the same time: each upload, push and clone keeps a git process, and its client may be
// slow.
import { ApiError } from "../../../api/jsonapi/errors.ts";

const RETRY_SECONDS = 5;

/** What is bounded, and how much of it may run. */
interface SlotBounds {
  /** Such as `uploads`. */
  noun: string;
  ofOrganization: number;
  ofAll: number;
}

export const UPLOADS: SlotBounds = { noun: "uploads", ofOrganization: 8, ofAll: 32 };

/** A push lasts until the deployments that it began have ended. */
export const GIT_REQUESTS: SlotBounds = { noun: "pushes and clones", ofOrganization: 16, ofAll: 64 };

/** The tasks that run in this process. */
export class SourceSlots {
  readonly #bounds: SlotBounds;
  readonly #used = new Map<string, number>();
  #all = 0;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** Takes a slot. @returns what gives it back, once. @throws ApiError 429 when too many others run. */
  take(organizationId: string): () => void {
    const { noun, ofOrganization, ofAll } = this.#bounds;
    const own = this.#used.get(organizationId) ?? 0;
    if (own >= ofOrganization || this.#all >= ofAll) {
      throw new ApiError(429, `Too many ${noun} run at the same time. Try again when one has ended.`, {
        headers: { "Retry-After": String(RETRY_SECONDS) },
      });
    }
    this.#count(organizationId, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#count(organizationId, -1);
      isTaken = false;
    };
  }

  /** Runs a task. @throws ApiError 429 as `take`. */
  async run<T>(organizationId: string, task: () => Promise<T>): Promise<T> {
    const free = this.take(organizationId);
    try {
      return await task();
    } finally {
      free();
    }
  }

  #count(organizationId: string, change: 1 | -1): void {
    this.#all += change;
    const own = (this.#used.get(organizationId) ?? 0) + change;
    if (own === 0) this.#used.delete(organizationId);
    else this.#used.set(organizationId, own);
  }
}
