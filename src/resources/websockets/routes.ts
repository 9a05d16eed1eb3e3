// The operations of WebSocket clusters.
import type { z } from "zod";
import type { Operation } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { deleteInstance } from "../shared/delete.ts";
import { logsOperation } from "../shared/logs/operation.ts";
import { regions } from "../shared/regions.ts";
import { Routes } from "../shared/routes.ts";
import { renderApplication } from "./applications/render.ts";
import { applicationResource } from "./applications/schema.ts";
import { changeWebSocketCluster } from "./change.ts";
import { createWebSocketCluster } from "./create.ts";
import { webSocketClusterParams } from "./params.ts";
import { renderWebSocketCluster } from "./render.ts";
import {
  newWebSocketCluster,
  webSocketClusterChange,
  webSocketClusterResource,
  webSocketClusterStatuses,
  webSocketClusterTypes,
} from "./schema.ts";
import { webSocketClusterSearch } from "./search.ts";
import { findWebSocketCluster, listWebSocketClusters, type WebSocketClusterRow } from "./store.ts";

/** All operations of WebSocket clusters, without those of their applications. */
export function webSocketClusterOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes = new Routes<WebSocketClusterRow, z.ZodObject, typeof webSocketClusterParams>({
    tag: "WebSocket Clusters",
    kind: "websockets",
    idNoun: "WebsocketServer",
    noun: "WebSocket cluster",
    shortNoun: "cluster",
    phrases: { one: "a WebSocket cluster", many: "WebSocket clusters" },
    collection: { path: "/websocket-servers" },
    item: { path: "/websocket-servers/:id", params: webSocketClusterParams, idOf: ({ id }) => id },
    schema: webSocketClusterResource,
    relatedSchema: applicationResource,
    includes: ["applications"],
    statuses: webSocketClusterStatuses,
    find: (organizationId, { id }) => findWebSocketCluster(db, organizationId, id),
    render: (row) => renderWebSocketCluster(row, context),
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
      body: newWebSocketCluster,
      isIncluding: true,
      create: (request) => createWebSocketCluster(context, request),
    }),
    routes.list({
      description: "The organization's clusters in pages, the oldest first.",
      filters: { type: webSocketClusterTypes, region: regions, status: webSocketClusterStatuses },
      isFilteredByName: true,
      list: (search) => listWebSocketClusters(db, search),
    }),
    routes.show({
      description:
        "One cluster, at once or, with `wait`, when the cluster has reached a status. After a change of the cluster or of an application, `available` means that the change is in force.",
    }),
    routes.change({
      description:
        "Members that are left out stay as they are. The cluster is `updating` until another number of connections is in force; no client is disconnected unless there are too many.",
      body: webSocketClusterChange,
      change: (request) => changeWebSocketCluster(context, request),
    }),
    routes.delete({
      description:
        "Answers at once. The cluster is `deleting` until it and its applications are gone; from then on a read answers 404.",
      delete: (request) => deleteInstance(context, request, webSocketClusterSearch),
    }),
    logs(context),
  ];
}

function logs(context: KindContext): Operation {
  return logsOperation(context, {
    kind: "websockets",
    path: "/websocket-servers/:id/logs",
    operationId: "readWebsocketServerLogs",
    tag: "WebSocket Clusters",
    noun: "WebSocket cluster",
    params: webSocketClusterParams,
    find: (organizationId, id) => findWebSocketCluster(context.db, organizationId, id),
  });
}
