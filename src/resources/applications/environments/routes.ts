// The operations of environments.
import { notFound } from "../../../api/jsonapi/errors.ts";
import { JSON_API, singleDocument } from "../../../api/jsonapi/jsonapi.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { logsOperation } from "../../shared/logs/operation.ts";
import { Routes } from "../../shared/routes.ts";
import { KIND } from "../create.ts";
import { deleteEnvironment } from "../delete.ts";
import { renderDeployment } from "../deployments/render.ts";
import { deploymentResource } from "../deployments/schema.ts";
import { applicationParams, environmentParams } from "../params.ts";
import { renderApplication } from "../render.ts";
import { applicationResource } from "../schema.ts";
import { findApplication } from "../store.ts";
import { changeEnvironment, deleteVariables, insertVariables } from "./change.ts";
import { createEnvironment } from "./create.ts";
import { renderEnvironment } from "./render.ts";
import { findProcessOf } from "./processes.ts";
import {
  environmentChange,
  environmentResource,
  environmentStart,
  environmentStatuses,
  newEnvironment,
} from "./schema.ts";
import { startEnvironment, stopEnvironment } from "./start-stop.ts";
import { findEnvironment, listEnvironments, type EnvironmentRow } from "./store.ts";
import { variablesDeletion, variablesInsert } from "./variable-schema.ts";

type EnvironmentRoutes = Routes<EnvironmentRow, typeof applicationParams, typeof environmentParams>;

/** All operations of environments. */
export function environmentOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes: EnvironmentRoutes = new Routes({
    tag: "Environments",
    kind: KIND,
    idNoun: "Environment",
    noun: "environment",
    shortNoun: "environment",
    phrases: { one: "an environment", many: "the environments of an application" },
    collection: { path: "/applications/:id/environments", params: applicationParams },
    item: { path: "/environments/:id", params: environmentParams, idOf: ({ id }) => id },
    schema: environmentResource,
    relatedSchema: applicationResource,
    includes: ["application"],
    statuses: environmentStatuses,
    find: (organizationId, { id }) => findEnvironment(db, organizationId, id),
    render: (row, principal) => renderEnvironment(row, context, principal),
    async related(_wanted, rows, { principal }) {
      const ids = [...new Set(rows.map(({ applicationId }) => applicationId))];
      const found = await Promise.all(ids.map((id) => findApplication(db, principal.organizationId, id)));
      return found.flatMap((row) => (row === undefined ? [] : [renderApplication(row)]));
    },
  });
  return [
    routes.create({
      description: "The environment waits for its first deployment.",
      successText: "The environment.",
      body: newEnvironment,
      create: (request) => createEnvironment(context, request),
    }),
    routes.list({
      description: "The application's environments in pages, the oldest first.",
      isFilteredByName: true,
      async list({ organizationId, page, filter }, { id }) {
        if ((await findApplication(db, organizationId, id)) === undefined) throw notFound("application");
        const { names = [], statuses = [] } = filter;
        return await listEnvironments(db, { applicationId: id, names, statuses, page });
      },
    }),
    routes.show({ description: "One environment, at once or, with `wait`, when it has reached a status." }),
    routes.change({
      description:
        "Members that are left out stay as they are. What a build needs takes effect at the next deployment.",
      body: environmentChange,
      change: (request) => changeEnvironment(context, request),
    }),
    startOperation(context),
    routes.action({
      verb: "stop",
      summary: "Stop an environment",
      description: "Ends its processes, and cancels its deployments. Its data and its releases stay.",
      successText: "The environment, which is `stopped`.",
      canConflict: true,
      act: async (request) => ({ row: await stopEnvironment(context, request), isReplayed: false }),
    }),
    logsOperation(context, {
      kind: "applications",
      path: "/environments/:id/logs",
      operationId: "readEnvironmentLogs",
      tag: "Environments",
      noun: "environment",
      params: environmentParams,
      find: (organizationId, id) => findProcessOf(db, organizationId, id),
    }),
    insertOperation(routes, context),
    deleteOperation(routes, context),
    routes.delete({
      description: "Answers at once. The environment is `deleting` until nothing of it is left.",
      canRefuse: true,
      delete: (request) => deleteEnvironment(context, request),
    }),
  ];
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

function insertOperation(routes: EnvironmentRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "variables",
    summary: "Add and change variables of an environment",
    description: "A running release gets them at its next start.",
    successText: "The environment with its variables.",
    body: variablesInsert,
    canConflict: true,
    act: async (request) => ({ row: await insertVariables(context, request), isReplayed: false }),
  });
}

function deleteOperation(routes: EnvironmentRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "variables/delete",
    summary: "Delete variables of an environment",
    description: "Deletes all of them or, when one is missing, none.",
    successText: "The environment without these variables.",
    body: variablesDeletion,
    canConflict: true,
    act: async (request) => ({ row: await deleteVariables(context, request), isReplayed: false }),
  });
}
