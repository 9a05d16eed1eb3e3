// The shape of the metrics of a cache in an answer.
import type { z } from "zod";
import {
  amountSchema,
  GATEWAY_CONNECTIONS,
  linesSchema,
  metricsDocumentOf,
} from "../../shared/metrics-schema.ts";

/** The answer. */
export const cacheMetricsDocument = metricsDocumentOf("CacheMetrics", {
  hits_and_misses: linesSchema(
    "Reads of keys that were there, and of others.",
    "hits_per_second",
    "misses_per_second",
  ),
  throughput: linesSchema("Commands, with a few of Pilvi's own.", "commands_per_second"),
  size: amountSchema("Memory of keys and values, in bytes.", "The latest size."),
  bandwidth_usage: amountSchema("Bytes from and to clients in each stretch.", "The bytes of the period."),
  cpu_usage: linesSchema("Processor time; 1 is all of one processor.", "processors"),
  memory_usage: linesSchema("Memory of all processes.", "bytes"),
  connections: linesSchema("Connections, and those in a blocking command.", "connections", "blocked"),
  evictions: linesSchema("Keys removed for room or age.", "evicted_per_second", "expired_per_second"),
  keys: linesSchema("Keys.", "keys"),
  gateway_connections: linesSchema(GATEWAY_CONNECTIONS, "connections"),
  awake: linesSchema("The part of the time with a running engine; 0 while it slept.", "ratio"),
  wakes: linesSchema("How often it was woken in each stretch.", "wakes"),
});

export type CacheMetrics = z.output<typeof cacheMetricsDocument>;
