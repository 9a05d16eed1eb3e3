// Bounds the uploads that run at the same time: each keeps a git process, and its client may be slow.
import { ApiError } from "../../../api/jsonapi/errors.ts";

const MAX_OF_ORGANIZATION = 8;
const MAX_OF_ALL = 32;
const RETRY_SECONDS = 5;

/** The uploads that run in this process. */
export class UploadSlots {
  readonly #used = new Map<string, number>();
  #all = 0;

  /** Runs an upload. @throws ApiError 429 when too many others run. */
  async run<T>(organizationId: string, task: () => Promise<T>): Promise<T> {
    const own = this.#used.get(organizationId) ?? 0;
    if (own >= MAX_OF_ORGANIZATION || this.#all >= MAX_OF_ALL) {
      throw new ApiError(429, "Too many uploads run at the same time. Try again when one has ended.", {
        headers: { "Retry-After": String(RETRY_SECONDS) },
      });
    }
    this.#count(organizationId, 1);
    try {
      return await task();
    } finally {
      this.#count(organizationId, -1);
    }
  }

  #count(organizationId: string, change: 1 | -1): void {
    this.#all += change;
    const own = (this.#used.get(organizationId) ?? 0) + change;
    if (own === 0) this.#used.delete(organizationId);
    else this.#used.set(organizationId, own);
  }
}
