// The operations of WebSocket clusters.
import type { z } from "zod";
import type { Operation } from "../../api/operation.ts";
import type { KindContext } from "../kind.ts";
import { deleteInstance } from "../shared/delete.ts";
import { regions } from "../shared/regions.ts";
import { Routes } from "../shared/routes.ts";
import { renderApplication } from "./applications/render.ts";
import { applicationResource } from "./applications/schema.ts";
import { changeServer } from "./change.ts";
import { createServer } from "./create.ts";
import { serverParams } from "./params.ts";
import { renderServer } from "./render.ts";
import { newServer, serverChange, serverResource, serverStatuses, serverTypes } from "./schema.ts";
import { findServer, listServers, type ServerRow } from "./store.ts";

/** All operations of WebSocket clusters, apart from those of their applications. */
export function serverOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes = new Routes<ServerRow, z.ZodObject, typeof serverParams>({
    tag: "WebSocket Clusters",
    kind: "websockets",
    idNoun: "WebsocketServer",
    noun: "WebSocket cluster",
    shortNoun: "cluster",
    phrases: { one: "a WebSocket cluster", many: "WebSocket clusters" },
    collection: { path: "/websocket-servers" },
    item: { path: "/websocket-servers/:id", params: serverParams, idOf: ({ id }) => id },
    schema: serverResource,
    relatedSchema: applicationResource,
    includes: ["applications"],
    statuses: serverStatuses,
    find: (organizationId, { id }) => findServer(db, organizationId, id),
    render: (row) => renderServer(row, context),
    related: (_wanted, rows, { principal }) =>
      rows.flatMap(({ applications }) =>
        applications.map((each) => renderApplication(each, context, principal)),
      ),
  });
  return [
    routes.create({
      description:
        "Creates a cluster with a default application named `main`. Answers at once with the status `creating`; the port and the credentials are final.",
      successText: "The cluster, which is being created, with its application in `included`.",
      body: newServer,
      isIncluding: true,
      create: (request) => createServer(context, request),
    }),
    routes.list({
      description: "The organization's clusters in pages, the oldest first.",
      filters: { type: serverTypes, region: regions, status: serverStatuses },
      isFilteredByName: true,
      list: (search) => listServers(db, search),
    }),
    routes.show({
      description:
        "One cluster, at once or, with `wait`, when it has reached a status. After a change of the cluster or of an application, `available` means that the change is in force.",
    }),
    routes.change({
      description:
        "Members that are left out stay as they are. The cluster is `updating` until another number of connections is in force; nobody is disconnected, unless there are too many.",
      body: serverChange,
      change: (request) => changeServer(context, request),
    }),
    routes.delete({
      description:
        "Answers at once. The cluster is `deleting` until nothing is left of it and its applications, and then no longer there.",
      delete: (request) =>
        deleteInstance(context, request, { kind: "websockets", noun: "WebSocket cluster" }),
    }),
  ];
}
