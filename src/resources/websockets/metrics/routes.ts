// The metrics of WebSocket clusters and applications.
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { metricsOperation } from "../../shared/metrics/operation.ts";
import type { ResourceMetrics } from "../../shared/metrics/read.ts";
import {
  linesOf,
  runningMeanOf,
  runningRateOf,
  runningShareOf,
  storageOf,
} from "../../shared/metrics/series.ts";
import { findApplication } from "../applications/store.ts";
import { applicationParams, webSocketClusterParams } from "../params.ts";
import { findWebSocketCluster } from "../store.ts";
import {
  applicationMetricsDocument,
  metricsDocument,
  type WebsocketApplicationMetrics,
  type WebsocketMetrics,
} from "./schema.ts";

const NOT_RUNNING = "Times in which the cluster did not run, or did not answer, are left out.";

/** All operations about metrics. */
export function metricsOperations(context: KindContext): Operation[] {
  return [ofCluster(context), ofApplication(context)];
}

function ofCluster(context: KindContext): Operation {
  return metricsOperation(context, {
    kind: "websockets",
    path: "/websocket-servers/:id/metrics",
    operationId: "getWebsocketServerMetrics",
    tag: "WebSocket Clusters",
    noun: "WebSocket cluster",
    params: webSocketClusterParams,
    schema: metricsDocument,
    rest: NOT_RUNNING,
    find: (organizationId, id) => findWebSocketCluster(context.db, organizationId, id),
    render: async ({ id }, read) => renderCluster(await read(id)),
  });
}

function ofApplication(context: KindContext): Operation {
  return metricsOperation(context, {
    kind: "websockets",
    path: "/websocket-applications/:id/metrics",
    operationId: "getWebsocketApplicationMetrics",
    tag: "WebSocket Applications",
    noun: "WebSocket application",
    params: applicationParams,
    schema: applicationMetricsDocument,
    rest: NOT_RUNNING,
    async find(organizationId, id) {
      const application = await findApplication(context.db, organizationId, id);
      if (application === undefined) return undefined;
      const { createdAt, clusterId } = application;
      const cluster = await findWebSocketCluster(context.db, organizationId, clusterId);
      return cluster && { id, createdAt, hostId: cluster.hostId };
    },
    render: async ({ id }, read) => renderCommon(await read(id)),
  });
}

function renderCommon(metrics: ResourceMetrics): WebsocketApplicationMetrics["data"] {
  return {
    connection_count: linesOf(metrics, { connections: runningMeanOf("connections") }),
    message_rate: linesOf(metrics, {
      messages_per_second: runningRateOf("messagesReceived", "messagesSent"),
    }),
    messages: linesOf(metrics, {
      received_per_second: runningRateOf("messagesReceived"),
      sent_per_second: runningRateOf("messagesSent"),
    }),
    api_requests: linesOf(metrics, { requests_per_second: runningRateOf("apiRequests") }),
    webhooks: linesOf(metrics, {
      delivered_per_second: runningRateOf("webhooksDelivered"),
      failed_per_second: runningRateOf("webhooksFailed"),
      dropped_per_second: runningRateOf("webhooksDropped"),
    }),
  };
}

function renderCluster(metrics: ResourceMetrics): WebsocketMetrics["data"] {
  return {
    ...renderCommon(metrics),
    cpu_usage: linesOf(metrics, { processors: runningShareOf("cpuMs") }),
    memory_usage: linesOf(metrics, { bytes: runningMeanOf("memoryBytes") }),
    storage_usage: linesOf(metrics, { bytes: storageOf(metrics) }),
  };
}
