// The charts of an environment.
import type { Charts } from "../../../console/parts/charts/series.ts";
import type { EnvironmentMetrics } from "../../../sdk/index.ts";

export const environmentCharts: Charts<EnvironmentMetrics["data"]> = {
  cpu_usage: { title: "Processor", unit: "share" },
  memory_usage: { title: "Memory", unit: "bytes" },
  replica_count: { title: "Replicas", unit: "count" },
};
