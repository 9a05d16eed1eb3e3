// The operations of WebSocket applications.
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { attachedEnvironments } from "../../applications/index.ts";
import type { RelatedRequest } from "../../shared/routed-resource.ts";
import { Routes } from "../../shared/routes.ts";
import { applicationParams, webSocketClusterParams } from "../params.ts";
import { renderWebSocketCluster } from "../render.ts";
import { webSocketClusterResource } from "../schema.ts";
import { findWebSocketCluster } from "../store.ts";
import { changeApplication, deleteApplication } from "./change.ts";
import { createApplication } from "./create.ts";
import { renderApplication } from "./render.ts";
import { rotateSecret } from "./rotate.ts";
import { applicationChange, applicationResource, newApplication, secretRotation } from "./schema.ts";
import { findApplication, listApplications, type ApplicationRow } from "./store.ts";

const pathInCluster = "/websocket-servers/:id/applications";

type ApplicationRoutes = Routes<ApplicationRow, typeof webSocketClusterParams, typeof applicationParams>;

/** All operations of WebSocket applications. */
export function applicationOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes: ApplicationRoutes = new Routes({
    tag: "WebSocket Applications",
    kind: "websockets",
    idNoun: "WebsocketApplication",
    noun: "WebSocket application",
    shortNoun: "application",
    phrases: { one: "a WebSocket application", many: "the applications of a WebSocket cluster" },
    collection: { path: pathInCluster, params: webSocketClusterParams },
    item: { path: "/websocket-applications/:id", params: applicationParams, idOf: ({ id }) => id },
    schema: applicationResource,
    relatedSchema: webSocketClusterResource,
    includes: ["server", "environments"],
    find: (organizationId, { id }) => findApplication(db, organizationId, id),
    render: (row, principal) => renderApplication(row, context, principal),
    related: (wanted, rows, request) => related(context, wanted, rows, request),
  });
  return [
    routes.create({
      description:
        "The credentials are final. The cluster is `updating` until the application can be used. A cluster has at most 100 applications.",
      successText: "The application.",
      body: newApplication,
      create: (request) => createApplication(context, request),
    }),
    routes.list({
      description: "The cluster's applications in pages, the oldest first.",
      async list({ organizationId, page }, { id }) {
        if ((await findWebSocketCluster(db, organizationId, id)) === undefined)
          throw notFound("WebSocket cluster");
        return await listApplications(db, id, page);
      },
    }),
    routes.show({
      description: "One application. Its cluster's status shows whether its latest change is in force.",
    }),
    routes.change({
      description:
        "Members that are left out stay as they are; lists are replaced as a whole. The change acts on open connections too, and the cluster is `updating` until it does. Only connections that the change forbids are closed.",
      body: applicationChange,
      change: (request) => changeApplication(context, request),
    }),
    rotate(routes, context),
    routes.delete({
      description:
        "The application is gone at once, and its connections are closed when its cluster is `available` again. The cluster stays, even without applications.",
      successText: "The application is deleted.",
      delete: (request) => deleteApplication(context, request),
    }),
  ];
}

/** The cluster and the environments of applications. */
async function* related(
  context: KindContext,
  wanted: readonly string[],
  rows: ApplicationRow[],
  { principal, params }: RelatedRequest,
): AsyncGenerator<object, void> {
  // A list may be empty; its path names the cluster.
  const clusterId = rows[0]?.clusterId ?? String(params.id);
  const cluster = wanted.includes("server")
    ? await findWebSocketCluster(context.db, principal.organizationId, clusterId)
    : undefined;
  if (cluster !== undefined) yield renderWebSocketCluster(cluster, context);
  if (wanted.includes("environments")) yield* attachedEnvironments(context, principal, rows);
}

function rotate(routes: ApplicationRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "rotate-secret",
    summary: "Give a WebSocket application a new secret",
    description:
      "The key stays. Requests and subscriptions may be signed with earlier secrets until the grace is over; connections stay open.",
    successText: "The application with its new secret.",
    body: secretRotation,
    isIdempotent: true,
    act: (request) => rotateSecret(context, request),
  });
}
