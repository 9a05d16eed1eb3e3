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
  http_response_count: linesSchema(
    "Answers in each stretch by their status; a WebSocket that was opened is in `2xx`. Answers of Pilvi's own are among them.",
    "2xx",
    "3xx",
    "4xx",
    "5xx",
  ),
  http_response_time: linesSchema(
    "Milliseconds from the beginning of a request until its answer began, with the time in which the environment woke: the mean, and the times within which half, 95 % and 99 % of the answers began.",
    "average",
    "p50",
    "p95",
    "p99",
  ),
  awake: linesSchema(
    "The part of the time in which a process ran, at most 1; 0 while the environment slept.",
    "ratio",
  ),
});

export type EnvironmentMetrics = z.output<typeof environmentMetricsDocument>;
