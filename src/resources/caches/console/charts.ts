// The charts of a cache.
import type { Charts } from "../../../console/parts/charts/series.ts";
import type { CacheMetrics } from "../../../sdk/index.ts";

export const cacheCharts: Charts<CacheMetrics["data"]> = {
  cpu_usage: { title: "Processor", unit: "share", lines: ["Of one processor"] },
  memory_usage: { title: "Memory", unit: "bytes" },
  size: { title: "Keys and values", unit: "bytes" },
  keys: { title: "Keys", unit: "count" },
  connections: { title: "Connections", unit: "count", lines: ["Connections", "Blocked"] },
  throughput: { title: "Commands", unit: "perSecond" },
  hits_and_misses: { title: "Hits and misses", unit: "perSecond", lines: ["Hits", "Misses"] },
  evictions: { title: "Removed keys", unit: "perSecond", lines: ["Evicted", "Expired"] },
  bandwidth_usage: { title: "Traffic", unit: "bytes", lines: ["From and to clients, in each stretch"] },
  gateway_connections: { title: "Clients at the gateway", unit: "count" },
  wakes: { title: "Wakes", unit: "count", lines: ["In each stretch"] },
};
