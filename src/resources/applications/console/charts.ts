// The charts of an environment.
import type { Charts } from "../../../console/parts/charts/series.ts";
import type { EnvironmentMetrics } from "../../../sdk/index.ts";

export const environmentCharts: Charts<EnvironmentMetrics["data"]> = {
  cpu_usage: { title: "Processor", unit: "share" },
  memory_usage: { title: "Memory", unit: "bytes" },
  replica_count: { title: "Replicas", unit: "count" },
  http_response_count: {
    title: "Answers",
    unit: "count",
    lines: ["2xx", "3xx", "4xx", "5xx"],
    // The edge answers too.
    holdsAsleep: true,
  },
  http_response_time: {
    title: "Response time",
    unit: "milliseconds",
    lines: ["Mean", "Median", "95 %", "99 %"],
  },
};
