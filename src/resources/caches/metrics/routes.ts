// The metrics of caches.
import type { z } from "zod";
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { ASLEEP, metricsOperation } from "../../shared/metrics/operation.ts";
import type { ResourceMetrics } from "../../shared/metrics/read.ts";
import {
  countOf,
  levelOf,
  linesOf,
  meanOf,
  perSecond,
  shareOf,
  sumsOf,
} from "../../shared/metrics/series.ts";
import { findCache } from "../store.ts";
import { cacheMetricsDocument, type CacheMetrics } from "./schema.ts";

/** @param params the schema of the path's parameters. */
export function cacheMetricsOperation(
  context: KindContext,
  { tag, params }: { tag: string; params: z.ZodObject<{ id: z.ZodString }> },
): Operation {
  return metricsOperation(context, {
    kind: "caches",
    path: "/caches/:id/metrics",
    operationId: "getCacheMetrics",
    tag,
    noun: "cache",
    params,
    schema: cacheMetricsDocument,
    rest: ASLEEP,
    find: (organizationId, id) => findCache(context.db, organizationId, id),
    render: async ({ id }, read) => renderCacheMetrics(await read(id)),
  });
}

function renderCacheMetrics(metrics: ResourceMetrics): CacheMetrics["data"] {
  return {
    hits_and_misses: linesOf(metrics, {
      hits_per_second: perSecond("hits"),
      misses_per_second: perSecond("misses"),
    }),
    throughput: linesOf(metrics, { commands_per_second: perSecond("commands") }),
    size: levelOf(metrics, meanOf("dataBytes")),
    bandwidth_usage: sumsOf(metrics, "networkInBytes", "networkOutBytes"),
    cpu_usage: linesOf(metrics, { processors: shareOf("cpuMs") }),
    memory_usage: linesOf(metrics, { bytes: meanOf("memoryBytes") }),
    connections: linesOf(metrics, {
      connections: meanOf("connections"),
      blocked: meanOf("blockedConnections"),
    }),
    evictions: linesOf(metrics, {
      evicted_per_second: perSecond("evictedKeys"),
      expired_per_second: perSecond("expiredKeys"),
    }),
    keys: linesOf(metrics, { keys: meanOf("keys") }),
    gateway_connections: linesOf(metrics, { connections: meanOf("gatewayConnections") }),
    awake: linesOf(metrics, { ratio: shareOf("awakeMs") }),
    wakes: linesOf(metrics, { wakes: countOf("wakes") }),
  };
}
