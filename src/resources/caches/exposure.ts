// Where a cache can be reached from, and when it sleeps: the one place where that is decided.
import type { Exposure } from "../../drivers/driver.ts";
import type { CacheValues } from "./store.ts";

const SECONDS_PER_MINUTE = 60;

/** One that never hibernates listens by itself, which is faster than a gateway in between. */
export function exposureOf({
  port,
  isPublic,
  usesHibernation,
}: Pick<CacheValues, "port" | "isPublic" | "usesHibernation">): Exposure {
  return {
    port,
    scope: isPublic ? "public" : "loopback",
    through: usesHibernation ? "gateway" : "engine",
  };
}

/** Seconds without use after which the cache sleeps; null is never. */
export function sleepAfterSecondsOf({
  usesHibernation,
  hibernationTimeout,
}: Pick<CacheValues, "usesHibernation" | "hibernationTimeout">): number | null {
  return usesHibernation ? hibernationTimeout * SECONDS_PER_MINUTE : null;
}
