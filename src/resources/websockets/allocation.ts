// The part of its organization's quotas that a WebSocket cluster takes.
import type { Allocation } from "../kind.ts";
import type { AllocationFields } from "../shared/quotas.ts";
import type { WebSocketClusterRow } from "./store.ts";

/** The fields with which a customer can take less. */
export const allocationFields: AllocationFields = {
  memory: "max_connections",
  connections: "max_connections",
};

/** An order for a cluster names connections and no memory. */
export function allocationOf({ maxConnections }: Pick<WebSocketClusterRow, "maxConnections">): Allocation {
  return { memoryBytes: 0, connections: maxConnections };
}
