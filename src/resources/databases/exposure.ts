// The networks that reach a database cluster, and its idle time before it sleeps: the one place that decides both.
import type { Exposure } from "../../contracts/instance-spec.ts";
import { isFlexible } from "./sizes.ts";
import type { DatabaseClusterRow } from "./store.ts";

/**
 * Every cluster is behind the gateway: it speaks TLS, which the engines do not, and holds clients while an engine
 * starts.
 */
export function exposureOf({ port, config }: Pick<DatabaseClusterRow, "port" | "config">): Exposure {
  const isPublic = "is_public" in config && config.is_public;
  return { port, scope: isPublic ? "public" : "loopback", through: "gateway" };
}

/** Whether a cluster can sleep at all: only orders by compute units, and the smallest sizes of MySQL, can. */
export function canSleep({ config }: Pick<DatabaseClusterRow, "config">): boolean {
  if ("cu_max" in config) return true;
  return "suspend_seconds" in config && isFlexible(config.size);
}

/** The idle seconds after which the cluster sleeps; null is never. */
export function sleepAfterSecondsOf(cluster: Pick<DatabaseClusterRow, "config">): number | null {
  const { config } = cluster;
  if (!canSleep(cluster) || !("suspend_seconds" in config) || config.suspend_seconds === 0) return null;
  return config.suspend_seconds;
}
