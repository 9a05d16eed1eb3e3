// The operations of WebSocket applications.
import { z } from "zod";
import { API_ROOT } from "../../../api/address.ts";
import { notFound } from "../../../api/errors.ts";
import { JSON_API, listDocument, singleDocument } from "../../../api/jsonapi.ts";
import { operation, type Operation } from "../../../api/operation.ts";
import { pageDocument, pageOf, pageQuery } from "../../../api/pagination.ts";
import type { KindContext } from "../../kind.ts";
import { createdHeaders } from "../../shared/create.ts";
import { applicationParams, serverParams } from "../params.ts";
import { renderServer } from "../render.ts";
import { serverResource } from "../schema.ts";
import { findServer, type ServerRow } from "../store.ts";
import { changeApplication, deleteApplication } from "./change.ts";
import { createApplication } from "./create.ts";
import { renderApplication } from "./render.ts";
import { rotateSecret } from "./rotate.ts";
import { applicationChange, applicationResource, newApplication, secretRotation } from "./schema.ts";
import { findApplication, listApplications } from "./store.ts";

const tag = "WebSocket Applications";
const includes = ["server"];
const path = "/websocket-applications";
const pathOfOne = `${path}/:id`;
const pathInServer = "/websocket-servers/:id/applications";

const single = singleDocument(applicationResource, serverResource);

/** All operations of WebSocket applications. */
export function applicationOperations(context: KindContext): Operation[] {
  return [create(context), list(context), show(context), change(context), rotate(context), remove(context)];
}

function create(context: KindContext): Operation {
  return operation({
    method: "POST",
    path: pathInServer,
    operationId: "createWebsocketApplication",
    tag,
    summary: "Create a WebSocket application",
    description:
      "The credentials are final. The cluster is `updating` until the application can be used; it has at most 100.",
    ability: "websockets:write",
    params: serverParams,
    body: newApplication,
    isIdempotent: true,
    success: {
      status: 201,
      description: "The application.",
      schema: single,
      contentType: JSON_API,
      headers: { Location: "The application's address." },
    },
    async handle(request) {
      const { row, isReplayed } = await createApplication(context, request);
      return {
        document: { data: renderApplication(row, context, request.principal) },
        headers: createdHeaders({ ...request, address: API_ROOT + path }, row.id, isReplayed),
      };
    },
  });
}

function list(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: pathInServer,
    operationId: "listWebsocketApplications",
    tag,
    summary: "List the applications of a WebSocket cluster",
    description: "The cluster's applications in pages, the oldest first.",
    ability: "websockets:read",
    params: serverParams,
    query: z.object(pageQuery),
    includes,
    success: {
      status: 200,
      description: "A page of applications.",
      schema: listDocument(applicationResource, serverResource),
      contentType: JSON_API,
    },
    async handle({ principal, params: { id }, query, url, includes: wanted }) {
      const server = await findServer(context.db, principal.organizationId, id);
      if (server === undefined) throw notFound("WebSocket cluster");
      const page = pageOf(query);
      const { rows, total } = await listApplications(context.db, id, page);
      const applications = rows.map((row) => renderApplication(row, context, principal));
      const included = includedFor(wanted, server, context);
      return { document: { ...pageDocument(url, page, total, applications), ...included } };
    },
  });
}

function show(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: pathOfOne,
    operationId: "getWebsocketApplication",
    tag,
    summary: "Get a WebSocket application",
    description: "One application. Whether its latest change is in force, its cluster's status tells.",
    ability: "websockets:read",
    params: applicationParams,
    includes,
    success: { status: 200, description: "The application.", schema: single, contentType: JSON_API },
    async handle({ principal, params: { id }, includes: wanted }) {
      const row = await findApplication(context.db, principal.organizationId, id);
      if (row === undefined) throw notFound("WebSocket application");
      const server =
        wanted.length > 0 ? await findServer(context.db, principal.organizationId, row.serverId) : undefined;
      const included = includedFor(wanted, server, context);
      return { document: { data: renderApplication(row, context, principal), ...included } };
    },
  });
}

function change(context: KindContext): Operation {
  return operation({
    method: "PATCH",
    path: pathOfOne,
    operationId: "updateWebsocketApplication",
    tag,
    summary: "Change a WebSocket application",
    description:
      "Members that are left out stay as they are; lists are replaced as a whole. The change acts on open connections too, and the cluster is `updating` until it does. Only connections that it forbids are closed.",
    canConflict: true,
    ability: "websockets:write",
    params: applicationParams,
    body: applicationChange,
    success: { status: 200, description: "The changed application.", schema: single, contentType: JSON_API },
    async handle(request) {
      const row = await changeApplication(context, request);
      return { document: { data: renderApplication(row, context, request.principal) } };
    },
  });
}

function rotate(context: KindContext): Operation {
  return operation({
    method: "POST",
    path: `${pathOfOne}/rotate-secret`,
    operationId: "rotateWebsocketApplicationSecret",
    tag,
    summary: "Give a WebSocket application a new secret",
    description:
      "The key stays. Requests and subscriptions may be signed with earlier secrets until the grace is over; connections stay open.",
    ability: "websockets:write",
    params: applicationParams,
    body: secretRotation,
    isIdempotent: true,
    success: {
      status: 200,
      description: "The application with its new secret.",
      schema: single,
      contentType: JSON_API,
    },
    async handle(request) {
      const { row, isReplayed } = await rotateSecret(context, request);
      return {
        document: { data: renderApplication(row, context, request.principal) },
        headers: { ...(isReplayed && { "Idempotent-Replayed": "true" }) },
      };
    },
  });
}

function remove(context: KindContext): Operation {
  return operation({
    method: "DELETE",
    path: pathOfOne,
    operationId: "deleteWebsocketApplication",
    tag,
    summary: "Delete a WebSocket application",
    description:
      "The application is gone at once, and its connections are closed when its cluster is `available` again. The cluster stays, even without applications.",
    ability: "websockets:write",
    params: applicationParams,
    success: { status: 204, description: "The application is deleted." },
    async handle(request) {
      await deleteApplication(context, request);
      return {};
    },
  });
}

/** The cluster, for those who ask. */
function includedFor(wanted: readonly string[], server: ServerRow | undefined, context: KindContext) {
  if (wanted.length === 0) return {};
  return { included: server === undefined ? [] : [renderServer(server, context)] };
}
