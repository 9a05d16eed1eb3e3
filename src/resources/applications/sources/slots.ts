// Bounds what runs for sources at the same time: each upload, plan, push and clone keeps a git process, and its client may
// be slow.
import { ApiError } from "../../../api/jsonapi/errors.ts";

const RETRY_SECONDS = 5;

/** What is bounded, and how much of it may run. */
interface SlotBounds {
  /** Such as `uploads`. */
  noun: string;
  /** Of the organizations that share quotas. */
  ofFamily: number;
  ofAll: number;
}

export const UPLOADS: SlotBounds = { noun: "uploads", ofFamily: 8, ofAll: 32 };

/** Plans of commits that are there or are fetched; those of uploads count as uploads. */
export const PLANS: SlotBounds = { noun: "plans", ofFamily: 4, ofAll: 16 };

/** A push lasts until the deployments that it began have ended. */
export const GIT_REQUESTS: SlotBounds = { noun: "pushes and clones", ofFamily: 16, ofAll: 64 };

/** The tasks that run in this process. */
export class SourceSlots {
  readonly #bounds: SlotBounds;
  readonly #used = new Map<string, number>();
  #all = 0;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** Takes a slot. @returns what gives it back, once. @throws ApiError 429 when too many others run. */
  take(familyId: string): () => void {
    const { noun, ofFamily, ofAll } = this.#bounds;
    const own = this.#used.get(familyId) ?? 0;
    if (own >= ofFamily || this.#all >= ofAll) {
      throw new ApiError(429, `Too many ${noun} run at the same time. Try again when one has ended.`, {
        headers: { "Retry-After": String(RETRY_SECONDS) },
      });
    }
    this.#count(familyId, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.#count(familyId, -1);
      isTaken = false;
    };
  }

  /** Runs a task. @throws ApiError 429 as `take`. */
  async run<T>(familyId: string, task: () => Promise<T>): Promise<T> {
    const free = this.take(familyId);
    try {
      return await task();
    } finally {
      free();
    }
  }

  #count(familyId: string, change: 1 | -1): void {
    this.#all += change;
    const own = (this.#used.get(familyId) ?? 0) + change;
    if (own === 0) this.#used.delete(familyId);
    else this.#used.set(familyId, own);
  }
}
