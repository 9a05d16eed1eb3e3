// The shape of the metrics of a database cluster in an answer.
import type { z } from "zod";
import { GATEWAY_CONNECTIONS, linesSchema, metricsDocumentOf } from "../../shared/metrics-schema.ts";

/** The answer. */
export const databaseMetricsDocument = metricsDocumentOf("DatabaseMetrics", {
  cpu_usage: linesSchema("Processor time; 1 is all of one processor.", "processors"),
  compute_hours: linesSchema(
    "Hours awake in each stretch, times the processors of the size.",
    "compute_hours",
  ),
  memory_usage: linesSchema("Memory of all processes.", "bytes"),
  writes: linesSchema("Rows inserted, updated and deleted.", "rows_per_second"),
  storage_usage: linesSchema("The disk use, with that of its replicas.", "bytes"),
  replica_lag: linesSchema(
    "How far the replica is behind that is furthest behind; empty for a cluster without replicas.",
    "seconds",
  ),
  connections: linesSchema(
    "Connections; for Postgres also those in a statement, and those that wait in a transaction.",
    "connections",
    "active",
    "idle_in_transaction",
  ),
  transactions: linesSchema(
    "Transactions that were committed, and that were rolled back.",
    "commits_per_second",
    "rollbacks_per_second",
  ),
  cache_hit_ratio: linesSchema(
    "The part of blocks that were read from memory; left out without reads.",
    "ratio",
  ),
  wal_bytes: linesSchema("What was written to the log of changes.", "bytes_per_second"),
  deadlocks: linesSchema("Transactions that were rolled back since they waited for each other.", "deadlocks"),
  gateway_connections: linesSchema(GATEWAY_CONNECTIONS, "connections"),
  awake: linesSchema("The part of the time with a running engine; 0 while it slept.", "ratio"),
  wakes: linesSchema("How often it was woken in each stretch.", "wakes"),
});

export type DatabaseMetrics = z.output<typeof databaseMetricsDocument>;
