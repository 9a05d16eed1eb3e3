// The operations of WebSocket clusters.
import { z } from "zod";
import type { Principal } from "../../api/auth.ts";
import { filterQuery, nameFilter } from "../../api/filters.ts";
import { JSON_API, listDocument, singleDocument } from "../../api/jsonapi.ts";
import { operation, type Operation } from "../../api/operation.ts";
import { pageDocument, pageOf, pageQuery } from "../../api/pagination.ts";
import { waitQuery } from "../../api/wait.ts";
import type { KindContext } from "../kind.ts";
import { createdHeaders } from "../shared/create.ts";
import { deleteInstance } from "../shared/delete.ts";
import { readOne } from "../shared/read.ts";
import { regions } from "../shared/regions.ts";
import { renderApplication } from "./applications/render.ts";
import { applicationResource } from "./applications/schema.ts";
import { changeServer } from "./change.ts";
import { createServer } from "./create.ts";
import { serverParams } from "./params.ts";
import { renderServer } from "./render.ts";
import { newServer, serverChange, serverResource, serverStatuses, serverTypes } from "./schema.ts";
import { findServer, listServers, type ServerRow } from "./store.ts";

const tag = "WebSocket Clusters";
const includes = ["applications"];
const path = "/websocket-servers";
const pathOfOne = `${path}/:id`;

const single = singleDocument(serverResource, applicationResource);

/** All operations of WebSocket clusters, apart from those of their applications. */
export function serverOperations(context: KindContext): Operation[] {
  return [create(context), list(context), show(context), change(context), remove(context)];
}

function create(context: KindContext): Operation {
  return operation({
    method: "POST",
    path,
    operationId: "createWebsocketServer",
    tag,
    summary: "Create a WebSocket cluster",
    description:
      "Creates a cluster with a default application named `main`. Answers at once with the status `creating`; the port and the credentials are final.",
    ability: "websockets:write",
    body: newServer,
    isIdempotent: true,
    success: {
      status: 201,
      description: "The cluster, which is being created, with its application in `included`.",
      schema: single,
      contentType: JSON_API,
      headers: { Location: "The cluster's address." },
    },
    async handle(request) {
      const { row, isReplayed } = await createServer(context, request);
      return {
        document: {
          data: renderServer(row, context),
          ...includedFor(includes, [row], context, request.principal),
        },
        headers: createdHeaders(request, row.id, isReplayed),
      };
    },
  });
}

function list(context: KindContext): Operation {
  return operation({
    method: "GET",
    path,
    operationId: "listWebsocketServers",
    tag,
    summary: "List WebSocket clusters",
    description: "The organization's clusters in pages, the oldest first.",
    ability: "websockets:read",
    query: z.object({
      ...pageQuery,
      ...nameFilter,
      ...filterQuery({ type: serverTypes, region: regions, status: serverStatuses }),
    }),
    includes,
    success: {
      status: 200,
      description: "A page of clusters.",
      schema: listDocument(serverResource, applicationResource),
      contentType: JSON_API,
    },
    async handle({ principal, query, url, includes: wanted }) {
      const page = pageOf(query);
      const filter = {
        names: query["filter[name]"],
        types: query["filter[type]"],
        regions: query["filter[region]"],
        statuses: query["filter[status]"],
      };
      const wish = { organizationId: principal.organizationId, filter, page };
      const { rows, total } = await listServers(context.db, wish);
      const servers = rows.map((row) => renderServer(row, context));
      const included = includedFor(wanted, rows, context, principal);
      return { document: { ...pageDocument(url, page, total, servers), ...included } };
    },
  });
}

function show(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: pathOfOne,
    operationId: "getWebsocketServer",
    tag,
    summary: "Get a WebSocket cluster",
    description:
      "One cluster, at once or, with `wait`, when it has reached a status. After a change of the cluster or of an application, `available` means that the change is in force.",
    ability: "websockets:read",
    params: serverParams,
    query: z.object(waitQuery(serverStatuses)),
    includes,
    success: { status: 200, description: "The cluster.", schema: single, contentType: JSON_API },
    async handle(request) {
      const {
        principal,
        params: { id },
        includes: wanted,
      } = request;
      const read = () => findServer(context.db, principal.organizationId, id);
      const row = await readOne(request, id, "WebSocket cluster", read);
      const included = includedFor(wanted, [row], context, principal);
      return { document: { data: renderServer(row, context), ...included } };
    },
  });
}

function change(context: KindContext): Operation {
  return operation({
    method: "PATCH",
    path: pathOfOne,
    operationId: "updateWebsocketServer",
    tag,
    summary: "Change a WebSocket cluster",
    description:
      "Members that are left out stay as they are. The cluster is `updating` until another number of connections is in force; nobody is disconnected, unless there are too many.",
    canConflict: true,
    ability: "websockets:write",
    params: serverParams,
    body: serverChange,
    success: { status: 200, description: "The changed cluster.", schema: single, contentType: JSON_API },
    async handle(request) {
      return { document: { data: renderServer(await changeServer(context, request), context) } };
    },
  });
}

function remove(context: KindContext): Operation {
  return operation({
    method: "DELETE",
    path: pathOfOne,
    operationId: "deleteWebsocketServer",
    tag,
    summary: "Delete a WebSocket cluster",
    description:
      "Answers at once. The cluster is `deleting` until nothing is left of it and its applications, and then no longer there.",
    ability: "websockets:write",
    params: serverParams,
    success: { status: 204, description: "The cluster is being deleted." },
    async handle(request) {
      await deleteInstance(context, request, { kind: "websockets", noun: "WebSocket cluster" });
      return {};
    },
  });
}

/** The applications of the clusters, for those who ask. */
function includedFor(
  wanted: readonly string[],
  servers: ServerRow[],
  context: KindContext,
  principal: Principal,
) {
  if (wanted.length === 0) return {};
  const applications = servers.flatMap((server) => server.applications);
  return { included: applications.map((each) => renderApplication(each, context, principal)) };
}
