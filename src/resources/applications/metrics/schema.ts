// The shape of the metrics of an environment in an answer.
import type { z } from "zod";
import { linesSchema, metricsDocumentOf } from "../../shared/metrics-schema.ts";

/** The answer. */
export const environmentMetricsDocument = metricsDocumentOf("EnvironmentMetrics", {
  cpu_usage: linesSchema(
    "Processor time of all replicas of the instance, and of each background process; 1 is all of one processor.",
    "App",
    "worker",
  ),
  memory_usage: linesSchema(
    "Memory in bytes of all replicas of the instance, and of each background process.",
    "App",
    "worker",
  ),
  replica_count: linesSchema("How many replicas ran, on average; 0 while the environment slept.", "replicas"),
});

export type EnvironmentMetrics = z.output<typeof environmentMetricsDocument>;
