// The metrics of WebSocket clusters and applications, which the running server keeps.
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { Series } from "../../../contracts/host-answers.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { KindContext } from "../../kind.ts";
import { findApplication } from "../applications/store.ts";
import { applicationParams, webSocketClusterParams } from "../params.ts";
import { findWebSocketCluster, type WebSocketClusterRow } from "../store.ts";
import { renderMetrics } from "./render.ts";
import { metricsDocument, metricsQuery, periods, type MetricPeriod } from "./schema.ts";

const description =
  "Connections, and messages a second in both directions, for up to 30 days. Times in which the cluster did not run are left out.";

const success = { status: 200, description: "The metrics.", schema: metricsDocument } as const;

/** All operations about metrics. */
export function metricsOperations(context: KindContext): Operation[] {
  return [ofServer(context), ofApplication(context)];
}

function ofServer(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/websocket-servers/:id/metrics",
    operationId: "getWebsocketServerMetrics",
    tag: "WebSocket Clusters",
    summary: "Get the metrics of a WebSocket cluster",
    description,
    ability: "websockets:read",
    params: webSocketClusterParams,
    query: metricsQuery,
    success,
    async handle({ principal, params: { id }, query: { period } }) {
      const server = await findWebSocketCluster(context.db, principal.organizationId, id);
      if (server === undefined) throw notFound("WebSocket cluster");
      return { document: renderMetrics(await seriesOf(context, server, period), period) };
    },
  });
}

function ofApplication(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: "/websocket-applications/:id/metrics",
    operationId: "getWebsocketApplicationMetrics",
    tag: "WebSocket Applications",
    summary: "Get the metrics of a WebSocket application",
    description,
    ability: "websockets:read",
    params: applicationParams,
    query: metricsQuery,
    success,
    async handle({ principal, params: { id }, query: { period } }) {
      const { organizationId } = principal;
      const application = await findApplication(context.db, organizationId, id);
      const server =
        application && (await findWebSocketCluster(context.db, organizationId, application.serverId));
      if (server === undefined) throw notFound("WebSocket application");
      return { document: renderMetrics(await seriesOf(context, server, period, id), period) };
    },
  });
}

/** @throws ApiError 503 while the server, which keeps the metrics, does not run. */
async function seriesOf(
  { hosts }: KindContext,
  server: WebSocketClusterRow,
  period: MetricPeriod,
  applicationId?: string,
): Promise<Series> {
  // Nothing was measured yet.
  if (server.status === "creating") return {};
  try {
    return await hosts.of(server.hostId).driver.metrics(server.id, {
      periodSeconds: periods[period],
      ...(applicationId !== undefined && { part: applicationId }),
    });
  } catch (cause) {
    if (!(cause instanceof PublicError)) throw cause;
    throw new ApiError(503, "The WebSocket cluster does not run at the moment. Try again soon.", {
      headers: { "Retry-After": "2" },
      cause,
    });
  }
}
