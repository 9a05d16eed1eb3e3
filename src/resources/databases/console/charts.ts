// The charts of a database cluster.
import type { Charts } from "../../../console/parts/charts/series.ts";
import type { DatabaseMetrics } from "../../../sdk/index.ts";

export const databaseCharts: Charts<DatabaseMetrics["data"]> = {
  cpu_usage: { title: "Processor", unit: "share", lines: ["Of one processor"] },
  memory_usage: { title: "Memory", unit: "bytes" },
  storage_usage: { title: "Disk use", unit: "bytes", holdsAsleep: true },
  connections: {
    title: "Connections",
    unit: "count",
    lines: ["Connections", "In a statement", "Idle in a transaction"],
  },
  transactions: { title: "Transactions", unit: "perSecond", lines: ["Committed", "Rolled back"] },
  writes: { title: "Rows written", unit: "perSecond" },
  cache_hit_ratio: { title: "Blocks read from memory", unit: "share" },
  wal_bytes: { title: "Log of changes", unit: "bytesPerSecond" },
  deadlocks: { title: "Deadlocks", unit: "count", lines: ["In each stretch"] },
  replica_lag: { title: "Lag of replicas", unit: "seconds" },
  compute_hours: { title: "Compute hours", unit: "hours", lines: ["In each stretch"] },
  gateway_connections: { title: "Clients at the gateway", unit: "count" },
  wakes: { title: "Wakes", unit: "count", lines: ["In each stretch"] },
};
