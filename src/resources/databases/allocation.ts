// The part of its organization's quotas that a database cluster takes.
import type { Allocation } from "../kind.ts";
import type { AllocationFields } from "../shared/quotas.ts";
import type { DatabaseConfig } from "./configs/index.ts";
import { resourcesOf } from "./resources.ts";
import type { DatabaseClusterRow } from "./store.ts";

/** The fields with which a customer can take less. */
export function allocationFieldsOf(config: DatabaseConfig): AllocationFields {
  const size = "cu_max" in config ? "config.cu_max" : "config.size";
  return { memory: size, connections: size };
}

/** The memory and the connections that the order stands for. */
export function allocationOf({ type, config }: Pick<DatabaseClusterRow, "type" | "config">): Allocation {
  const { memoryBytes, maxConnections } = resourcesOf(type, config);
  return { memoryBytes, connections: maxConnections };
}
