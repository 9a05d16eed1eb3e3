// The operations of databases in a cluster.
import { z } from "zod";
import { notFound } from "../../../api/errors.ts";
import type { Operation } from "../../../api/operation.ts";
import type { KindContext } from "../../kind.ts";
import { Routes } from "../../shared/routes.ts";
import { clusterParams } from "../params.ts";
import { renderDatabase } from "../render.ts";
import { databaseResource } from "../schema.ts";
import { findDatabase } from "../store.ts";
import { createSchema, deleteSchema } from "./create.ts";
import { renderSchema } from "./render.ts";
import { newSchema, schemaResource, schemaStatuses } from "./schema.ts";
import { findSchema, listSchemas, type SchemaRow } from "./store.ts";

const path = "/databases/clusters/:id/databases";

const schemaParams = clusterParams.extend({
  schema: z
    .string()
    .regex(/^schema-[0-9a-f-]{36}$/)
    .meta({ description: "The database's id.", example: "schema-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
});

/** All operations of databases in a cluster. */
export function schemaOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes = new Routes<SchemaRow, typeof clusterParams, typeof schemaParams>({
    tag: "Databases",
    kind: "databases",
    idNoun: "DatabaseSchema",
    noun: "database",
    shortNoun: "database",
    phrases: { one: "a database of a cluster", many: "the databases of a cluster" },
    collection: { path, params: clusterParams },
    item: { path: `${path}/:schema`, params: schemaParams, idOf: ({ schema }) => schema },
    schema: schemaResource,
    relatedSchema: databaseResource,
    includes: ["database", "environments"],
    statuses: schemaStatuses,
    find: (organizationId, { id, schema }) => findSchema(db, organizationId, id, schema),
    render: renderSchema,
    // No environment uses a database yet.
    async related(wanted, _rows, { principal, params: { id } }) {
      if (!wanted.includes("database")) return [];
      const cluster = await findDatabase(db, principal.organizationId, String(id));
      return cluster === undefined ? [] : [renderDatabase(cluster, context, principal)];
    },
  });
  return [
    routes.create({
      summary: "Create a database in a cluster",
      description: "Answers at once with the status `creating`; the cluster's credentials are good for it.",
      body: newSchema,
      create: (request) => createSchema(context, request),
    }),
    routes.list({
      description: "The cluster's databases in pages, the oldest first.",
      async list({ organizationId, page }, { id }) {
        if ((await findDatabase(db, organizationId, id)) === undefined) throw notFound("database cluster");
        return await listSchemas(db, id, page);
      },
    }),
    routes.show({
      description: "One database, at once or, with `wait`, when it has reached a status.",
    }),
    routes.delete({
      description:
        "Answers at once. The database is `deleting` until nothing is left of it, and then no longer there. The cluster stays, even without databases.",
      delete: (request) => deleteSchema(context, request),
    }),
  ];
}
