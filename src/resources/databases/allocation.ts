// The part of its organization's quotas that a database cluster takes.
import type { Allocation } from "../kind.ts";
import type { AllocationFields } from "../shared/quotas.ts";
import type { DatabaseConfig } from "./configs/index.ts";
import { replicaCountOf } from "./replicas/count.ts";
import { resourcesOf } from "./resources.ts";
import type { DatabaseClusterRow } from "./store.ts";

/** The field for the number of replicas, each of which takes a port. */
export const REPLICAS_FIELD = "config.read_replicas";

/** The fields with which a customer can take less. */
export function allocationFieldsOf(config: DatabaseConfig): AllocationFields {
  const size = "cu_max" in config ? "config.cu_max" : "config.size";
  return { memory: size, connections: size };
}

/** The memory and the connections that the order stands for; each replica takes as much as the cluster itself. */
export function allocationOf(order: Pick<DatabaseClusterRow, "type" | "config">): Allocation {
  const { memoryBytes, maxConnections } = resourcesOf(order.type, order.config);
  const instances = 1 + replicaCountOf(order);
  return { memoryBytes: instances * memoryBytes, connections: instances * maxConnections };
}
