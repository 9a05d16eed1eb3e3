// The metrics of database clusters.
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { ASLEEP, metricsOperation } from "../../shared/metrics/operation.ts";
import type { ResourceMetrics } from "../../shared/metrics/read.ts";
import {
  countOf,
  hoursOf,
  linesOf,
  meanOf,
  perSecond,
  ratioOf,
  shareOf,
  storageOf,
} from "../../shared/metrics/series.ts";
import { clusterParams } from "../params.ts";
import { findDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { protocolOf, protocols } from "../types.ts";
import { databaseMetricsDocument, type DatabaseMetrics } from "./schema.ts";

export function databaseMetricsOperation(context: KindContext, tag: string): Operation {
  return metricsOperation(context, {
    kind: "databases",
    path: "/databases/clusters/:id/metrics",
    operationId: "getDatabaseClusterMetrics",
    tag,
    noun: "database cluster",
    params: clusterParams,
    schema: databaseMetricsDocument,
    rest: ASLEEP,
    find: (organizationId, id) => findDatabaseCluster(context.db, organizationId, id),
    render: async (row, read) => renderDatabaseMetrics(await read(row.id), row),
  });
}

function renderDatabaseMetrics(
  metrics: ResourceMetrics,
  { type }: DatabaseClusterRow,
): DatabaseMetrics["data"] {
  const { hasConnectionStates } = protocols[protocolOf(type)];
  return {
    cpu_usage: linesOf(metrics, { processors: shareOf("cpuMs") }),
    compute_hours: linesOf(metrics, { compute_hours: hoursOf("computeMs") }),
    memory_usage: linesOf(metrics, { bytes: meanOf("memoryBytes") }),
    writes: linesOf(metrics, { rows_per_second: perSecond("rowsWritten") }),
    storage_usage: linesOf(metrics, { bytes: storageOf(metrics) }),
    replica_lag: linesOf(metrics, { seconds: ({ replicaLagSeconds }) => replicaLagSeconds }),
    connections: linesOf(metrics, {
      connections: meanOf("connections"),
      ...(hasConnectionStates && {
        active: meanOf("activeConnections"),
        idle_in_transaction: meanOf("idleInTransactionConnections"),
      }),
    }),
    transactions: linesOf(metrics, {
      commits_per_second: perSecond("commits"),
      rollbacks_per_second: perSecond("rollbacks"),
    }),
    cache_hit_ratio: linesOf(metrics, { ratio: ratioOf("blocksHit", "blocksRead") }),
    wal_bytes: linesOf(metrics, { bytes_per_second: perSecond("walBytes") }),
    deadlocks: linesOf(metrics, { deadlocks: countOf("deadlocks") }),
    gateway_connections: linesOf(metrics, { connections: meanOf("gatewayConnections") }),
    awake: linesOf(metrics, { ratio: shareOf("awakeMs") }),
    wakes: linesOf(metrics, { wakes: countOf("wakes") }),
  };
}
