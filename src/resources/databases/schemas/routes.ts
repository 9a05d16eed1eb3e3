// The operations of databases in a cluster.
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { Operation } from "../../../api/operation/operation.ts";
import { attachedEnvironments } from "../../applications/index.ts";
import type { KindContext } from "../../kind.ts";
import { Routes } from "../../shared/routes.ts";
import { clusterParams, schemaParams } from "../params.ts";
import { renderDatabaseCluster } from "../render.ts";
import { databaseClusterResource } from "../schema.ts";
import { findDatabaseCluster } from "../store.ts";
import { createDatabase, deleteDatabase } from "./create.ts";
import { renderDatabase } from "./render.ts";
import { newDatabase, databaseResource, databaseStatuses } from "./schema.ts";
import { findDatabase, listDatabases, type DatabaseRow } from "./store.ts";

const path = "/databases/clusters/:id/databases";

/** All operations of databases in a cluster. */
export function databaseOperations(context: KindContext): Operation[] {
  const { db } = context;
  const routes = new Routes<DatabaseRow, typeof clusterParams, typeof schemaParams>({
    tag: "Databases",
    kind: "databases",
    idNoun: "DatabaseSchema",
    noun: "database",
    shortNoun: "database",
    phrases: { one: "a database of a cluster", many: "the databases of a cluster" },
    collection: { path, params: clusterParams },
    item: { path: `${path}/:schema`, params: schemaParams, idOf: ({ schema }) => schema },
    schema: databaseResource,
    relatedSchema: databaseClusterResource,
    includes: ["database", "environments"],
    statuses: databaseStatuses,
    find: (organizationId, { id, schema }) => findDatabase(db, organizationId, id, schema),
    render: renderDatabase,
    async *related(wanted, rows, { principal, params: { id } }) {
      const cluster = wanted.includes("database")
        ? await findDatabaseCluster(db, principal.organizationId, String(id))
        : undefined;
      if (cluster !== undefined) yield renderDatabaseCluster(cluster, context, principal);
      if (wanted.includes("environments")) yield* attachedEnvironments(context, principal, rows);
    },
  });
  return [
    routes.create({
      summary: "Create a database in a cluster",
      description: "Answers at once with the status `creating`; the cluster's credentials open the database.",
      body: newDatabase,
      create: (request) => createDatabase(context, request),
    }),
    routes.list({
      description: "The cluster's databases in pages, the oldest first.",
      async list({ organizationId, page }, { id }) {
        if ((await findDatabaseCluster(db, organizationId, id)) === undefined)
          throw notFound("database cluster");
        return await listDatabases(db, id, page);
      },
    }),
    routes.show({
      description: "One database, at once or, with `wait`, when the database has reached a status.",
    }),
    routes.delete({
      description:
        "Answers at once. The database is `deleting` until its data is gone; from then on a read answers 404. The cluster stays, even without databases.",
      delete: (request) => deleteDatabase(context, request),
    }),
  ];
}
