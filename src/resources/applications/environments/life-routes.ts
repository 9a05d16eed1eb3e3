// The operations that start and stop an environment, and read what its processes have written.
import { JSON_API, singleDocument } from "../../../api/jsonapi/jsonapi.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import type { Routes } from "../../shared/routes.ts";
import { KIND } from "../create.ts";
import { renderDeployment } from "../deployments/render.ts";
import { deploymentResource } from "../deployments/schema.ts";
import { environmentParams, type applicationParams } from "../params.ts";
import { environmentLogOperation } from "../logs/routes.ts";
import { environmentMetricsOperation } from "../metrics/routes.ts";
import { purgeEdgeCache } from "./purge.ts";
import { edgeCachePurge, environmentStart } from "./schema.ts";
import { startEnvironment, stopEnvironment } from "./start-stop.ts";
import type { EnvironmentRow } from "./store.ts";

/** How environments are found and rendered. */
export type EnvironmentRoutes = Routes<EnvironmentRow, typeof applicationParams, typeof environmentParams>;

/** The operations about what runs in an environment. */
export function lifeOperations(context: KindContext, routes: EnvironmentRoutes): Operation[] {
  return [
    startOperation(context),
    stopOperation(context, routes),
    purgeOperation(context, routes),
    environmentLogOperation(context),
    environmentMetricsOperation(context),
  ];
}

function stopOperation(context: KindContext, routes: EnvironmentRoutes): Operation {
  return routes.action({
    verb: "stop",
    summary: "Stop an environment",
    description: "Ends its processes, and cancels its deployments. Its data and its releases stay.",
    successText: "The environment, which is `stopped`.",
    canConflict: true,
    act: async (request) => ({ row: await stopEnvironment(context, request), isReplayed: false }),
  });
}

function purgeOperation(context: KindContext, routes: EnvironmentRoutes): Operation {
  return routes.action({
    verb: "purge-edge-cache",
    summary: "Purge the edge cache of an environment",
    description:
      "The edge answers with nothing that it has kept of the environment so far. In force within a second. A deployment does the same, unless `uses_purge_edge_cache_on_deploy` is off.",
    successText: "The environment.",
    body: edgeCachePurge,
    canConflict: true,
    act: async (request) => ({ row: await purgeEdgeCache(context, request), isReplayed: false }),
  });
}

function startOperation(context: KindContext): Operation {
  return operation({
    method: "POST",
    path: "/environments/:id/start",
    operationId: "startEnvironment",
    tag: "Environments",
    summary: "Start an environment",
    description:
      "Deploys the newest commit of its branch or, with `redeploy`, what the latest successful deployment had. A release that is still kept is not built again.",
    ability: `${KIND}:write`,
    params: environmentParams,
    body: environmentStart,
    isIdempotent: true,
    canConflict: true,
    success: {
      status: 201,
      description: "The deployment that starts it.",
      schema: singleDocument(deploymentResource),
      contentType: JSON_API,
    },
    async handle(request) {
      const { row, isReplayed } = await startEnvironment(context, request);
      const headers: Record<string, string> = isReplayed ? { "Idempotent-Replayed": "true" } : {};
      return { document: { data: renderDeployment(row) }, headers };
    },
  });
}
