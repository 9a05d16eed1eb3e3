// All watchers of applications in this process, and their bounds.
import { ApiError } from "../../../../api/jsonapi/errors.ts";
import { Feed, type FollowedApplication } from "./feed.ts";
import { Watcher } from "./watcher.ts";

/** How many may watch an application, and how many streams the organizations that share quotas may have. */
export const MAX_OF_APPLICATION = 10;
const MAX_OF_FAMILY = 20;

export class Watchers {
  readonly #feeds = new Map<string, Feed>();

  /** How many watch an application. */
  count(id: string): number {
    return this.#feeds.get(id)?.watchers.size ?? 0;
  }

  /**
   * Adds a watcher, for which the application is followed until `end` is called.
   * @throws ApiError 429 when the application or the organization has too many.
   */
  add(application: FollowedApplication, familyId: string): { watcher: Watcher; end: () => void } {
    this.#assertRoom(application.id, familyId);
    const feed = this.#feeds.get(application.id) ?? new Feed(application);
    this.#feeds.set(application.id, feed);
    const watcher = new Watcher(familyId);
    feed.add(watcher);
    return { watcher, end: () => this.#remove(application.id, feed, watcher) };
  }

  #remove(id: string, feed: Feed, watcher: Watcher): void {
    if (!feed.watchers.delete(watcher) || feed.watchers.size > 0) return;
    feed.end();
    this.#feeds.delete(id);
  }

  #assertRoom(id: string, familyId: string): void {
    let ofFamily = 0;
    for (const { watchers } of this.#feeds.values()) {
      for (const watcher of watchers) ofFamily += watcher.familyId === familyId ? 1 : 0;
    }
    const isFull = this.count(id) >= MAX_OF_APPLICATION;
    if (!isFull && ofFamily < MAX_OF_FAMILY) return;
    const text = isFull
      ? `The application is watched ${MAX_OF_APPLICATION} times already.`
      : `The organization watches applications ${MAX_OF_FAMILY} times already.`;
    throw new ApiError(429, `${text} End one of the streams.`, { headers: { "Retry-After": "15" } });
  }
}
