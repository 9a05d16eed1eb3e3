// The operations of databases in a cluster.
import { z } from "zod";
import { notFound } from "../../../api/errors.ts";
import { JSON_API, listDocument, singleDocument } from "../../../api/jsonapi.ts";
import { operation, type Operation } from "../../../api/operation.ts";
import { pageDocument, pageOf, pageQuery } from "../../../api/pagination.ts";
import { waitQuery } from "../../../api/wait.ts";
import type { Principal } from "../../../api/auth.ts";
import type { KindContext } from "../../kind.ts";
import { createdHeaders } from "../../shared/create.ts";
import { readOne } from "../../shared/read.ts";
import { clusterParams } from "../params.ts";
import { renderDatabase } from "../render.ts";
import { databaseResource } from "../schema.ts";
import { findDatabase, type DatabaseRow } from "../store.ts";
import { createSchema, deleteSchema } from "./create.ts";
import { renderSchema } from "./render.ts";
import { newSchema, schemaResource, schemaStatuses } from "./schema.ts";
import { findSchema, listSchemas } from "./store.ts";

const tag = "Databases";
const includes = ["database", "environments"];
const path = "/databases/clusters/:id/databases";
const pathOfOne = `${path}/:schema`;

const schemaParams = clusterParams.extend({
  schema: z
    .string()
    .regex(/^schema-[0-9a-f-]{36}$/)
    .meta({ description: "The database's id.", example: "schema-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});

const single = singleDocument(schemaResource, databaseResource);

/** All operations of databases in a cluster. */
export function schemaOperations(context: KindContext): Operation[] {
  return [create(context), list(context), show(context), remove(context)];
}

function create(context: KindContext): Operation {
  return operation({
    method: "POST",
    path,
    operationId: "createDatabaseSchema",
    tag,
    summary: "Create a database in a cluster",
    description: "Answers at once with the status `creating`; the cluster's credentials are good for it.",
    ability: "databases:write",
    params: clusterParams,
    body: newSchema,
    isIdempotent: true,
    success: {
      status: 201,
      description: "The database, which is being created.",
      schema: single,
      contentType: JSON_API,
      headers: { Location: "The database's address." },
    },
    async handle(request) {
      const { row, isReplayed } = await createSchema(context, request);
      return {
        document: { data: renderSchema(row) },
        headers: createdHeaders(request, row.id, isReplayed),
      };
    },
  });
}

function list(context: KindContext): Operation {
  return operation({
    method: "GET",
    path,
    operationId: "listDatabaseSchemas",
    tag,
    summary: "List the databases of a cluster",
    description: "The cluster's databases in pages, the oldest first.",
    ability: "databases:read",
    params: clusterParams,
    query: z.object(pageQuery),
    includes,
    success: {
      status: 200,
      description: "A page of databases.",
      schema: listDocument(schemaResource, databaseResource),
      contentType: JSON_API,
    },
    async handle({ principal, params: { id }, query, url, includes: wanted }) {
      const cluster = await findDatabase(context.db, principal.organizationId, id);
      if (cluster === undefined) throw notFound("database cluster");
      const page = pageOf(query);
      const { rows, total } = await listSchemas(context.db, id, page);
      const schemas = rows.map(renderSchema);
      const included = includedFor(wanted, cluster, context, principal);
      return { document: { ...pageDocument(url, page, total, schemas), ...included } };
    },
  });
}

function show(context: KindContext): Operation {
  return operation({
    method: "GET",
    path: pathOfOne,
    operationId: "getDatabaseSchema",
    tag,
    summary: "Get a database of a cluster",
    description: "One database, at once or, with `wait`, when it has reached a status.",
    ability: "databases:read",
    params: schemaParams,
    query: z.object(waitQuery(schemaStatuses)),
    includes,
    success: { status: 200, description: "The database.", schema: single, contentType: JSON_API },
    async handle(request) {
      const { principal, params, includes: wanted } = request;
      const cluster = await findDatabase(context.db, principal.organizationId, params.id);
      if (cluster === undefined) throw notFound("database");
      const read = () => findSchema(context.db, params.id, params.schema);
      const row = await readOne(request, params.schema, "database", read);
      const included = includedFor(wanted, cluster, context, principal);
      return { document: { data: renderSchema(row), ...included } };
    },
  });
}

function remove(context: KindContext): Operation {
  return operation({
    method: "DELETE",
    path: pathOfOne,
    operationId: "deleteDatabaseSchema",
    tag,
    summary: "Delete a database of a cluster",
    description:
      "Answers at once. The database is `deleting` until nothing is left of it, and then no longer there. The cluster stays, even without databases.",
    ability: "databases:write",
    params: schemaParams,
    success: { status: 204, description: "The database is being deleted." },
    async handle(request) {
      await deleteSchema(context, request);
      return {};
    },
  });
}

/** The cluster for those who ask; no environment uses a database yet. */
function includedFor(
  wanted: readonly string[],
  cluster: DatabaseRow,
  context: KindContext,
  principal: Principal,
) {
  if (wanted.length === 0) return {};
  return { included: wanted.includes("database") ? [renderDatabase(cluster, context, principal)] : [] };
}
