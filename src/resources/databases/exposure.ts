// Where a database cluster can be reached from, and when it sleeps: the one place where that is decided.
import type { Exposure } from "../../drivers/driver.ts";
import { isFlexible } from "./sizes.ts";
import type { DatabaseClusterRow } from "./store.ts";

/** The gateway stands before every cluster: it speaks TLS, which the engines do not, and has clients wait while one starts. */
export function exposureOf({ port, config }: Pick<DatabaseClusterRow, "port" | "config">): Exposure {
  const isPublic = "is_public" in config && config.is_public;
  return { port, scope: isPublic ? "public" : "loopback", through: "gateway" };
}

/** Whether a cluster can sleep at all; only what is ordered by compute units, and the smallest sizes of MySQL, may. */
export function canSleep({ config }: Pick<DatabaseClusterRow, "config">): boolean {
  if ("cu_max" in config) return true;
  return "suspend_seconds" in config && isFlexible(config.size);
}

/** Seconds without use after which the cluster sleeps; null is never. */
export function sleepAfterSecondsOf(cluster: Pick<DatabaseClusterRow, "config">): number | null {
  const { config } = cluster;
  if (!canSleep(cluster) || !("suspend_seconds" in config) || config.suspend_seconds === 0) return null;
  return config.suspend_seconds;
}
