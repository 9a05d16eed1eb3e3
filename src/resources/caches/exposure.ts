// The networks that reach a cache, and its idle time before it sleeps: the one place that decides both.
import type { Exposure } from "../../contracts/instance-spec.ts";
import type { CacheValues } from "./store.ts";

const SECONDS_PER_MINUTE = 60;

/**
 * The engine of a cache that never hibernates listens by itself, which is faster than a gateway in between. It has no
 * bound on the connections of an address, nor on those before their login, so it never listens for other machines.
 */
export function exposureOf({
  port,
  isPublic,
  usesHibernation,
}: Pick<CacheValues, "port" | "isPublic" | "usesHibernation">): Exposure {
  return {
    port,
    scope: isPublic ? "public" : "loopback",
    through: usesHibernation || isPublic ? "gateway" : "engine",
  };
}

/** The idle seconds after which the cache sleeps; null is never. */
export function sleepAfterSecondsOf({
  usesHibernation,
  hibernationTimeout,
}: Pick<CacheValues, "usesHibernation" | "hibernationTimeout">): number | null {
  return usesHibernation ? hibernationTimeout * SECONDS_PER_MINUTE : null;
}
