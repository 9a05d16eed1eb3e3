// How many read replicas an order stands for.
import { keepsLog } from "../backups/policy.ts";
import type { DatabaseConfig } from "../configs/index.ts";
import { MAX_READ_REPLICAS } from "../configs/managed.ts";
import { protocolOf, protocols, type DatabaseType } from "../types.ts";

/** The number of replicas; earlier releases kept members of a config that had no effect. */
export function replicaCountOf(order: { type: DatabaseType; config: DatabaseConfig }): number {
  const { config } = order;
  if (!("read_replicas" in config) || config.deployment_option !== "single-az-with-read-replicas") return 0;
  const { hasReplicas } = protocols[protocolOf(order.type)];
  return hasReplicas && keepsLog(order) ? Math.min(config.read_replicas ?? 0, MAX_READ_REPLICAS) : 0;
}
