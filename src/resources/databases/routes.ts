// The operations of database clusters, each under its path and under the former path.
import type { z } from "zod";
import { operation, type Operation } from "../../api/operation/operation.ts";
import type { Offer } from "../../contracts/host-answers.ts";
import type { KindContext } from "../kind.ts";
import { deletionQuery } from "../shared/delete-query.ts";
import { deleteInstance } from "../shared/delete.ts";
import { logsOperation } from "../shared/logs/operation.ts";
import { regions } from "../shared/regions.ts";
import { endGrace, rotateCredentials } from "../shared/rotate.ts";
import { credentialRotation } from "../shared/rotation-schema.ts";
import { Routes } from "../shared/routes.ts";
import { suspendInstance } from "../shared/suspend.ts";
import { sourceOf } from "./backups/policy.ts";
import { CLUSTERS, changeDatabaseCluster } from "./change.ts";
import { memberDescriptionsOf } from "./configs/describe.ts";
import { createDatabaseCluster } from "./create.ts";
import { choicesFor, engineFaults, extensionsFor } from "./engines.ts";
import { canSleep } from "./exposure.ts";
import { legacy } from "./legacy.ts";
import { databaseMetricsOperation } from "./metrics/routes.ts";
import { clusterParams } from "./params.ts";
import { renderDatabaseCluster } from "./render.ts";
import {
  checkNewDatabaseCluster,
  databaseClusterChange,
  databaseClusterResource,
  databaseClusterStatuses,
  databaseTypeList,
  newDatabaseCluster,
} from "./schema.ts";
import { renderDatabase } from "./schemas/render.ts";
import { databaseResource } from "./schemas/schema.ts";
import { markDatabasesDeleting } from "./schemas/store.ts";
import { findDatabaseCluster, listDatabaseClusters, type DatabaseClusterRow } from "./store.ts";
import { databaseTypeLabels, databaseTypes } from "./types.ts";

const tag = "Database Clusters";
type ClusterRoutes = Routes<DatabaseClusterRow, z.ZodObject, typeof clusterParams>;

/** All operations of database clusters, without those of the databases in them. */
export function databaseClusterOperations(context: KindContext): Operation[] {
  const { db } = context;
  const offer = () => context.hosts.forNew().offer();
  const routes: ClusterRoutes = new Routes({
    tag,
    kind: "databases",
    idNoun: "DatabaseCluster",
    noun: "database cluster",
    shortNoun: "cluster",
    phrases: { one: "a database cluster", many: "database clusters" },
    collection: { path: "/databases/clusters" },
    item: { path: "/databases/clusters/:id", params: clusterParams, idOf: ({ id }) => id },
    schema: databaseClusterResource,
    relatedSchema: databaseResource,
    includes: ["databases"],
    statuses: databaseClusterStatuses,
    find: (organizationId, { id }) => findDatabaseCluster(db, organizationId, id),
    render: (row, principal) => renderDatabaseCluster(row, context, principal),
    related: (_wanted, rows) => rows.flatMap(({ schemas }) => schemas.map(renderDatabase)),
  });
  const operations = [
    create(routes, context, offer),
    routes.list({
      description: "The organization's clusters in pages, the oldest first.",
      filters: { type: databaseTypes, region: regions, status: databaseClusterStatuses },
      list: (search) => listDatabaseClusters(db, search),
    }),
    routes.show({
      description: "One cluster, at once or, with `wait`, when the cluster has reached a status.",
    }),
    routes.change({
      description:
        "Changes the members of `config` that are named. The cluster is `updating` until the change is in force. A change of the size starts the engine anew, which ends its connections; `suspend_seconds` does not, and wakes nothing.",
      body: databaseClusterChange,
      change: (request) => changeDatabaseCluster(context, request),
    }),
    suspend(routes, context),
    rotate(routes, context),
    routes.delete({
      description:
        "Answers at once. The cluster and the databases in it are `deleting` until their data is gone; from then on a read answers 404. Its backups are kept for its retention, and its snapshots until they are deleted, unless `purge` is true.",
      query: deletionQuery,
      delete: (request) =>
        deleteInstance(context, request, {
          ...CLUSTERS,
          markParts: markDatabasesDeleting,
          archive: { find: findDatabaseCluster, sourceOf, isPurged: request.query.purge === "true" },
        }),
    }),
  ];
  return [
    ...operations,
    endGraceOf(routes, context),
    databaseMetricsOperation(context, tag),
    logs(context),
    types(offer),
    ...operations.map(legacy),
  ];
}

function create(routes: ClusterRoutes, context: KindContext, offer: () => Promise<Offer>): Operation {
  return routes.create({
    description:
      "Answers at once with the status `creating`. The port and the credentials are final; the cluster can be used when its status is `available`.",
    body: newDatabaseCluster,
    isIncluding: true,
    async check(valid) {
      const errors = checkNewDatabaseCluster(valid);
      if (valid.type === undefined) return errors;
      return { ...errors, ...engineFaults(valid.type, valid.version, await offer()) };
    },
    create: async (request) => await createDatabaseCluster(context, request, await offer()),
  });
}

function suspend(routes: ClusterRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "suspend",
    summary: "Put a database cluster to sleep",
    description:
      "Answers when the cluster sleeps, at once for a cluster that sleeps already. The next client that logs in wakes it. A cluster whose type or size never sleeps, or that has a transaction open, answers 409.",
    successText: "The cluster, which sleeps.",
    canConflict: true,
    act: (request) => suspendInstance(context, request, { ...CLUSTERS, reasonAgainst }),
  });
}

function rotate(routes: ClusterRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "rotate-credentials",
    summary: "Give a database cluster a new password",
    description:
      "The user stays. The cluster is `updating` until the new password is in force. With `grace_seconds` the present password stays valid beside it for that time; without, it is refused from then on. The former password of an earlier rotation is refused in either case. Sessions stay open, and a sleeping cluster is not woken.",
    successText: "The cluster with its new password.",
    body: credentialRotation,
    isIdempotent: true,
    canConflict: true,
    act: (request) => rotateCredentials(context, request, CLUSTERS),
  });
}

function endGraceOf(routes: ClusterRoutes, context: KindContext): Operation {
  return routes.action({
    verb: "end-grace",
    summary: "Refuse the former password of a database cluster",
    description:
      "Ends the grace period of the latest rotation now: the former password is refused when the cluster is `available` again. Sessions stay open. Changes nothing where no former password is valid.",
    successText: "The cluster without a former password.",
    canConflict: true,
    act: (request) => endGrace(context, request, CLUSTERS),
  });
}

function reasonAgainst(cluster: DatabaseClusterRow): string | undefined {
  if (canSleep(cluster)) return undefined;
  const { type, config } = cluster;
  if (type !== "platform_mysql" || !("size" in config)) return `Clusters of the type ${type} never sleep.`;
  return `A cluster of the size ${config.size} never sleeps; those of flex sizes can.`;
}

function types(offer: () => Promise<Offer>): Operation {
  return operation({
    method: "GET",
    path: "/databases/types",
    operationId: "listDatabaseTypes",
    tag,
    summary: "List database types",
    description:
      "The types of database clusters, with their regions, the members of their config, and versions.",
    ability: "databases:read",
    success: { status: 200, description: "All types.", schema: databaseTypeList, isCompressed: true },
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

function logs(context: KindContext): Operation {
  return logsOperation(context, {
    kind: "databases",
    path: "/databases/clusters/:id/logs",
    operationId: "readDatabaseClusterLogs",
    tag,
    noun: "database cluster",
    params: clusterParams,
    find: (organizationId, id) => findDatabaseCluster(context.db, organizationId, id),
  });
}
