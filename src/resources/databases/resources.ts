// The memory, processors and connections of the engine that an order stands for.
import type { DatabaseConfig } from "./configs/index.ts";
import { machineOf } from "./sizes.ts";
import { protocolOf, type DatabaseType } from "./types.ts";

const GIBIBYTE = 1024 ** 3;

/** The memory of a compute unit, which has one processor. */
export const MEMORY_BYTES_PER_CU = 4 * GIBIBYTE;

/** The ratio of memory to connections in the public clouds. */
const BYTES_PER_CONNECTION = { postgres: 9_531_392, mysql: 12_582_880 };
const MOST_CONNECTIONS = { serverless: 4_000, postgres: 5_000, mysql: 16_000 };

/** The most that a cluster may use. */
export interface Resources {
  memoryBytes: number;
  /** May be a fraction. */
  cpus: number;
  maxConnections: number;
}

/** The resources of an order; a small machine may give less. */
export function resourcesOf(type: DatabaseType, config: DatabaseConfig): Resources {
  if ("cu_max" in config) {
    // The public tables of connections by compute units count four billion bytes for a unit.
    const connections = Math.floor((config.cu_max * 4e9) / BYTES_PER_CONNECTION.postgres);
    return {
      memoryBytes: config.cu_max * MEMORY_BYTES_PER_CU,
      cpus: config.cu_max,
      maxConnections: Math.min(MOST_CONNECTIONS.serverless, connections),
    };
  }
  const machine = machineOf(config.size);
  const protocol = protocolOf(type);
  const connections = Math.floor(machine.memoryBytes / BYTES_PER_CONNECTION[protocol]);
  return { ...machine, maxConnections: Math.min(MOST_CONNECTIONS[protocol], connections) };
}
