// The cache channels whose miss was reported, remembered also while a channel has no subscriber: otherwise each visitor
// could have it reported again by coming back. Bounded apart from the last events, since every visitor can make up names,
// and for all applications of a cluster together, since they share its memory.
import { CACHE_TTL_SECONDS } from "./protocol/limits.ts";

/** The most that a cluster keeps; the misses that were reported longest ago go first. */
const MAX_MISSES = 100_000;

export class ReportedMisses {
  /** When each miss is forgotten, in milliseconds; in the order of the reports. */
  readonly #expiresAt = new Map<string, number>();
  readonly #now: () => number;

  /** @param now the time in milliseconds. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * @param channel its name among the channels of all applications.
   * @returns whether the miss is to be reported: its last report is long ago, or there was an event since.
   */
  add(channel: string): boolean {
    const now = this.#now();
    if ((this.#expiresAt.get(channel) ?? now) > now) return false;
    this.#expiresAt.delete(channel);
    this.#expiresAt.set(channel, now + CACHE_TTL_SECONDS * 1_000);
    for (const [oldest, expiresAt] of this.#expiresAt) {
      if (this.#expiresAt.size <= MAX_MISSES && expiresAt > now) break;
      this.#expiresAt.delete(oldest);
    }
    return true;
  }

  /** Forgets the miss of a channel that has an event. */
  delete(channel: string): void {
    this.#expiresAt.delete(channel);
  }
}
