// The one place where a cache's status is decided.
import type { CacheStatus } from "./schema.ts";

/**
 * The status that follows from what was just seen.
 * @param isReached whether a login with the cache's own credentials, through its published address, worked.
 */
export function nextStatus(current: CacheStatus, isReached: boolean): CacheStatus {
  if (current === "deleting") return "deleting";
  if (isReached) return "available";
  // A cache that never was available is still being created, however often its engine ends.
  return current === "creating" ? "creating" : "updating";
}
