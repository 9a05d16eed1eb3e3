// The operations that start and stop an environment, and read what its processes have written.
import { JSON_API, singleDocument } from "../../../api/jsonapi/jsonapi.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { logsOperation } from "../../shared/logs/operation.ts";
import type { Routes } from "../../shared/routes.ts";
import { KIND } from "../create.ts";
import { renderDeployment } from "../deployments/render.ts";
import { deploymentResource } from "../deployments/schema.ts";
import { environmentParams, type applicationParams } from "../params.ts";
import { findProcessOf } from "./processes.ts";
import { environmentStart } from "./schema.ts";
import { startEnvironment, stopEnvironment } from "./start-stop.ts";
import type { EnvironmentRow } from "./store.ts";

/** How environments are found and rendered. */
export type EnvironmentRoutes = Routes<EnvironmentRow, typeof applicationParams, typeof environmentParams>;

/** The operations about what runs in an environment. */
export function lifeOperations(context: KindContext, routes: EnvironmentRoutes): Operation[] {
  return [startOperation(context), stopOperation(context, routes), logOperation(context)];
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

function logOperation(context: KindContext): Operation {
  return logsOperation(context, {
    kind: KIND,
    path: "/environments/:id/logs",
    operationId: "readEnvironmentLogs",
    tag: "Environments",
    noun: "environment",
    params: environmentParams,
    find: (organizationId, id) => findProcessOf(context.db, organizationId, id),
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
      "Deploys the newest commit of its branch or, with `redeploy`, what the latest deployment had. A release that is still kept is not built again.",
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
