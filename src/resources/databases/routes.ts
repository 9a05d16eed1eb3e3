// The operations of database clusters, each under its path and under the former one.
import { z } from "zod";
import { filterQuery } from "../../api/filters.ts";
import { JSON_API, listDocument, singleDocument } from "../../api/jsonapi.ts";
import { operation, type Operation } from "../../api/operation.ts";
import { pageDocument, pageOf, pageQuery } from "../../api/pagination.ts";
import { waitQuery } from "../../api/wait.ts";
import type { Offer } from "../../drivers/driver.ts";
import type { KindContext } from "../kind.ts";
import { createdHeaders } from "../shared/create.ts";
import { deleteInstance } from "../shared/delete.ts";
import { rememberedOffer } from "../shared/offers.ts";
import { readOne } from "../shared/read.ts";
import { regions } from "../shared/regions.ts";
import { rotateCredentials } from "../shared/rotate.ts";
import { suspendInstance } from "../shared/suspend.ts";
import { CLUSTERS, changeDatabase } from "./change.ts";
import { memberDescriptionsOf } from "./configs/describe.ts";
import { createDatabase } from "./create.ts";
import { choicesFor, engineFaults, extensionsFor } from "./engines.ts";
import { canSleep } from "./exposure.ts";
import { legacy } from "./legacy.ts";
import { clusterParams } from "./params.ts";
import { renderDatabase } from "./render.ts";
import {
  checkNewDatabase,
  databaseChange,
  databaseResource,
  databaseStatuses,
  databaseTypeList,
  newDatabase,
} from "./schema.ts";
import { renderSchema } from "./schemas/render.ts";
import { schemaResource } from "./schemas/schema.ts";
import { markSchemasDeleting } from "./schemas/store.ts";
import { findDatabase, listDatabases, type DatabaseRow } from "./store.ts";
import { databaseTypeLabels, databaseTypes } from "./types.ts";

const tag = "Database Clusters";
const includes = ["databases"];
const path = "/databases/clusters";
const pathOfOne = `${path}/:id`;

const single = singleDocument(databaseResource, schemaResource);

/** All operations of database clusters, apart from those of the databases in them. */
export function databaseOperations(context: KindContext): Operation[] {
  const offer = rememberedOffer(context.driver);
  const operations = {
    createDatabase: create(context, offer),
    listDatabases: list(context),
    getDatabase: show(context),
    updateDatabase: change(context),
    suspendDatabase: suspend(context),
    rotateDatabaseCredentials: rotate(context),
    deleteDatabase: remove(context),
  };
  const former = Object.entries(operations).map(([name, each]) => legacy(each, name));
  return [...Object.values(operations), types(offer), ...former];
}

function create(context: KindContext, offer: () => Promise<Offer>): Operation {
  return operation({
    method: "POST",
    path,
    operationId: "createDatabaseCluster",
    tag,
    summary: "Create a database cluster",
    description:
      "Answers at once with the status `creating`. The port and the credentials are final; the cluster can be used when its status is `available`.",
    ability: "databases:write",
    body: newDatabase,
    isIdempotent: true,
    async check(valid) {
      const errors = checkNewDatabase(valid);
      if (valid.type === undefined) return errors;
      return { ...errors, ...engineFaults(valid.type, valid.version, await offer()) };
    },
    success: {
      status: 201,
      description: "The cluster, which is being created.",
      schema: single,
      contentType: JSON_API,
      headers: { Location: "The cluster's address." },
    },
    async handle(request) {
      const { row, isReplayed } = await createDatabase(context, request, await offer());
      return {
        document: {
          data: renderDatabase(row, context, request.principal),
          included: row.schemas.map(renderSchema),
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
    operationId: "listDatabaseClusters",
    tag,
    summary: "List database clusters",
    description: "The organization's clusters in pages, the oldest first.",
    ability: "databases:read",
    query: z.object({
      ...pageQuery,
      ...filterQuery({ type: databaseTypes, region: regions, status: databaseStatuses }),
    }),
    includes,
    success: {
      status: 200,
      description: "A page of clusters.",
      schema: listDocument(databaseResource, schemaResource),
      contentType: JSON_API,
    },
    async handle({ principal, query, url, includes: wanted }) {
      const page = pageOf(query);
      const filter = {
        types: query["filter[type]"],
        regions: query["filter[region]"],
        statuses: query["filter[status]"],
      };
      const wish = { organizationId: principal.organizationId, filter, page };
      const { rows, total } = await listDatabases(context.db, wish);
      const clusters = rows.map((row) => renderDatabase(row, context, principal));
      return { document: { ...pageDocument(url, page, total, clusters), ...includedFor(wanted, rows) } };
    },
  });
}

function show(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: pathOfOne,
    operationId: "getDatabaseCluster",
    tag,
    summary: "Get a database cluster",
    description: "One cluster, at once or, with `wait`, when it has reached a status.",
    ability: "databases:read",
    params: clusterParams,
    query: z.object(waitQuery(databaseStatuses)),
    includes,
    success: { status: 200, description: "The cluster.", schema: single, contentType: JSON_API },
    async handle(request) {
      const {
        principal,
        params: { id },
        includes: wanted,
      } = request;
      const read = () => findDatabase(context.db, principal.organizationId, id);
      const row = await readOne(request, id, "database cluster", read);
      return { document: { data: renderDatabase(row, context, principal), ...includedFor(wanted, [row]) } };
    },
  });
}

function change(context: KindContext): Operation {
  return operation({
    method: "PATCH",
    path: pathOfOne,
    operationId: "updateDatabaseCluster",
    tag,
    summary: "Change a database cluster",
    description:
      "Changes the members of `config` that are named. The cluster is `updating` until the change is in force. What gives it another size starts its engine anew, which ends its connections; `suspend_seconds` does not, and wakes nothing.",
    canConflict: true,
    ability: "databases:write",
    params: clusterParams,
    body: databaseChange,
    success: { status: 200, description: "The changed cluster.", schema: single, contentType: JSON_API },
    async handle(request) {
      const row = await changeDatabase(context, request);
      return { document: { data: renderDatabase(row, context, request.principal) } };
    },
  });
}

function suspend(context: KindContext): Operation {
  return operation({
    method: "POST",
    path: `${pathOfOne}/suspend`,
    operationId: "suspendDatabaseCluster",
    tag,
    summary: "Put a database cluster to sleep",
    description:
      "Answers when the cluster sleeps; one that does already is fine. The next client that logs in wakes it. One whose type or size never sleeps, or that has a transaction open, answers 409.",
    canConflict: true,
    ability: "databases:write",
    params: clusterParams,
    success: {
      status: 200,
      description: "The cluster, which sleeps.",
      schema: single,
      contentType: JSON_API,
    },
    async handle(request) {
      const row = await suspendInstance(context, request, { ...CLUSTERS, reasonAgainst });
      return { document: { data: renderDatabase(row, context, request.principal) } };
    },
  });
}

function rotate(context: KindContext): Operation {
  return operation({
    method: "POST",
    path: `${pathOfOne}/rotate-credentials`,
    operationId: "rotateDatabaseClusterCredentials",
    tag,
    summary: "Give a database cluster a new password",
    description:
      "The user stays. The cluster is `updating` until the new password is in force, and from then on the former one is refused; sessions stay open. One that sleeps is not woken.",
    ability: "databases:write",
    params: clusterParams,
    isIdempotent: true,
    canConflict: true,
    success: {
      status: 200,
      description: "The cluster with its new password.",
      schema: single,
      contentType: JSON_API,
    },
    async handle(request) {
      const { row, isReplayed } = await rotateCredentials(context, request, CLUSTERS);
      return {
        document: { data: renderDatabase(row, context, request.principal) },
        headers: { ...(isReplayed && { "Idempotent-Replayed": "true" }) },
      };
    },
  });
}

function reasonAgainst(cluster: DatabaseRow): string | undefined {
  if (canSleep(cluster)) return undefined;
  const { type, config } = cluster;
  if (type !== "platform_mysql" || !("size" in config)) return `Clusters of the type ${type} never sleep.`;
  return `A cluster of the size ${config.size} never sleeps; those of flex sizes can.`;
}

function remove(context: KindContext): Operation {
  return operation({
    method: "DELETE",
    path: pathOfOne,
    operationId: "deleteDatabaseCluster",
    tag,
    summary: "Delete a database cluster",
    description:
      "Answers at once. The cluster and the databases in it are `deleting` until nothing is left, and then no longer there.",
    ability: "databases:write",
    params: clusterParams,
    success: { status: 204, description: "The cluster is being deleted." },
    async handle(request) {
      await deleteInstance(context, request, {
        ...CLUSTERS,
        markParts: markSchemasDeleting,
      });
      return {};
    },
  });
}

function types(offer: () => Promise<Offer>): Operation {
  return operation({
    method: "GET",
    path: "/databases/types",
    operationId: "listDatabaseTypes",
    tag,
    summary: "List database types",
    description: "What can be ordered: types with their regions, the members of their config, and versions.",
    ability: "databases:read",
    success: { status: 200, description: "All types.", schema: databaseTypeList },
    async handle() {
      const installed = await offer();
      const data = databaseTypes.map((type) => ({
        type,
        label: databaseTypeLabels[type],
        regions: [...regions],
        config_schema: memberDescriptionsOf(type),
        versions: choicesFor(type, installed).map(({ version }) => version),
        extensions: extensionsFor(type, installed),
      }));
      return { document: { data } };
    },
  });
}

/** The databases of the clusters, for those who ask. */
function includedFor(wanted: readonly string[], rows: DatabaseRow[]) {
  if (wanted.length === 0) return {};
  return { included: rows.flatMap(({ schemas }) => schemas.map(renderSchema)) };
}
