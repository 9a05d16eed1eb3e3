// The operations of deployments.
import { z } from "zod";
import { boundedPage } from "../../../api/jsonapi/answer-size.ts";
import { notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type Operation } from "../../../api/operation/operation.ts";
import { JSON_API, listDocument } from "../../../api/jsonapi/jsonapi.ts";
import { pageDocument, pageOf, pageQuery } from "../../../api/jsonapi/pagination.ts";
import type { KindContext } from "../../kind.ts";
import { Routes } from "../../shared/routes.ts";
import { KIND } from "../create.ts";
import { includedEnvironments } from "../environments/attached.ts";
import { environmentResource } from "../environments/schema.ts";
import { findEnvironment, loadEnvironment } from "../environments/store.ts";
import { deploymentParams, environmentParams } from "../params.ts";
import { createDeployment } from "./create.ts";
import { readLog } from "./log.ts";
import { renderDeployment } from "./render.ts";
import {
  deploymentFilter,
  deploymentLog,
  deploymentResource,
  deploymentStatuses,
  isEnd,
  newDeployment,
} from "./schema.ts";
import { findDeployment, listDeployments, type DeploymentRow } from "./store.ts";

type DeploymentRoutes = Routes<DeploymentRow, typeof environmentParams, typeof deploymentParams>;

const TAG = "Deployments";

/** The operations that create and read deployments. */
export function deploymentOperations(context: KindContext): Operation[] {
  const routes = deploymentRoutes(context);
  return [
    routes.create({
      description:
        "Without a body, the newest commit of the environment's branch is built and rolled out. The former release serves until the new one has answered.",
      successText: "The deployment, which is `pending`.",
      body: newDeployment,
      create: (request) => createDeployment(context, request),
    }),
    listOperation(context, routes),
    routes.show({ description: "One deployment, at once or, with `wait`, when it has reached a status." }),
    logOperation(context),
  ];
}

/** How deployments are found and rendered. */
function deploymentRoutes(context: KindContext): DeploymentRoutes {
  const { db } = context;
  return new Routes({
    tag: TAG,
    kind: KIND,
    idNoun: "Deployment",
    noun: "deployment",
    shortNoun: "deployment",
    phrases: { one: "a deployment", many: "the deployments of an environment" },
    collection: { path: "/environments/:id/deployments", params: environmentParams },
    item: { path: "/deployments/:id", params: deploymentParams, idOf: ({ id }) => id },
    schema: deploymentResource,
    relatedSchema: environmentResource,
    includes: ["environment"],
    statuses: deploymentStatuses,
    isFinal: isEnd,
    find: (organizationId, { id }) => findDeployment(db, organizationId, id),
    render: renderDeployment,
    related: (_wanted, rows, { principal }) =>
      includedEnvironments(
        context,
        principal,
        rows.map(({ environmentId }) => environmentId),
      ),
  });
}

function listOperation({ db }: KindContext, routes: DeploymentRoutes): Operation {
  return operation({
    method: "GET",
    path: "/environments/:id/deployments",
    operationId: "listDeployments",
    tag: TAG,
    summary: "List the deployments of an environment",
    description: "The environment's deployments in pages, the newest first.",
    ability: `${KIND}:read`,
    params: environmentParams,
    query: z.object({ ...pageQuery, ...deploymentFilter }),
    includes: ["environment"],
    success: {
      status: 200,
      description: "A page of deployments.",
      schema: listDocument(deploymentResource, environmentResource),
      contentType: JSON_API,
    },
    async handle(request) {
      const { principal, params, query, url, includes } = request;
      const environment = await findEnvironment(db, principal.organizationId, params.id);
      if (environment === undefined) throw notFound("environment");
      const page = pageOf(query);
      const { rows, total } = await listDeployments(db, {
        environmentId: environment.id,
        statuses: query["filter[status]"] ?? [],
        branches: query["filter[branch_name]"] ?? [],
        commits: query["filter[commit_hash]"] ?? [],
        page,
      });
      const document = pageDocument(url, page, total, boundedPage(rows.values().map(renderDeployment)));
      return { document: { ...document, ...(await routes.included(includes, rows, request)) } };
    },
  });
}

function logOperation(context: KindContext): Operation {
  const { db } = context;
  return operation({
    method: "GET",
    path: "/deployments/:id/logs",
    operationId: "readDeploymentLog",
    tag: TAG,
    summary: "Read the log of a deployment",
    description:
      "The steps of the build with their output, and those of the rollout. Logs are kept for a year; those of older deployments are answered with 422.",
    ability: `${KIND}:read`,
    params: deploymentParams,
    canRefuse: true,
    success: { status: 200, description: "The log.", schema: deploymentLog, contentType: "application/json" },
    async handle({ principal, params, signal }) {
      const deployment = await findDeployment(db, principal.organizationId, params.id);
      const environment = deployment && (await loadEnvironment(db, deployment.environmentId));
      if (deployment === undefined || environment === undefined) throw notFound("deployment");
      return { document: await readLog(context, { ...deployment, hostId: environment.hostId }, signal) };
    },
  });
}
