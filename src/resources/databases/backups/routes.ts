// The operations of backups of database clusters: snapshots, restores, clones.
import type { z } from "zod";
import type { Operation } from "../../../api/operation/operation.ts";
import { notFound } from "../../../api/jsonapi/errors.ts";
import type { KindContext } from "../../kind.ts";
import { backupsOperations } from "../../shared/backups/backups-routes.ts";
import { deleteSnapshot } from "../../shared/backups/create-snapshot.ts";
import {
  snapshotOperations,
  snapshotRouting,
  type SnapshotKind,
} from "../../shared/backups/snapshot-routes.ts";
import { findSnapshot, type SnapshotRow } from "../../shared/backups/snapshots.ts";
import {
  checkDatabaseRestore,
  databaseRefresh,
  newDatabaseClone,
  newDatabaseRestore,
} from "../../shared/restore-schema.ts";
import { Routes } from "../../shared/routes.ts";
import { databaseSnapshotResource } from "../../shared/snapshot-schema.ts";
import { CLUSTERS } from "../change.ts";
import { clusterParams, clusterSnapshotParams } from "../params.ts";
import { renderDatabaseCluster } from "../render.ts";
import { databaseClusterResource, databaseClusterStatuses } from "../schema.ts";
import { renderDatabase } from "../schemas/render.ts";
import { refreshDatabaseCluster } from "../refreshes/refresh.ts";
import { databaseResource } from "../schemas/schema.ts";
import { findDatabaseCluster, type DatabaseClusterRow } from "../store.ts";
import { policyOf, sourceOf, type DatabaseSource } from "./policy.ts";
import { cloneDatabaseCluster, restoreDatabaseCluster } from "./restore.ts";

const PATH = "/databases/clusters/:id";
const TAG = "Database Snapshots";

/** All of them. */
export function databaseBackupOperations(context: KindContext): Operation[] {
  const { db } = context;
  const kind = snapshotKind(context);
  return [
    ...snapshotOperations(context, kind),
    ...ofCluster(context, kind),
    ...restores(context),
    clone(context),
    refresh(context),
    ...backupsOperations(context, {
      kind: "databases",
      tag: "Backups",
      path: PATH,
      params: clusterParams,
      idNoun: "DatabaseCluster",
      noun: "database cluster",
      exists: async (organizationId, id) => (await findDatabaseCluster(db, organizationId, id)) !== undefined,
    }),
  ];
}

function snapshotKind(context: KindContext): SnapshotKind<DatabaseClusterRow, typeof clusterParams> {
  return {
    kind: "databases",
    tag: TAG,
    idNoun: "DatabaseSnapshot",
    instance: "a database cluster",
    search: CLUSTERS,
    path: PATH,
    params: clusterParams,
    snapshotsPath: "/database-snapshots",
    schema: databaseSnapshotResource,
    relationship: "database",
    relatedSchema: databaseClusterResource,
    sourceOf,
    policyOf: (source) => policyOf(source as DatabaseSource),
    render: (row, principal) => renderDatabaseCluster(row, context, principal),
    resourceOf: (common, id) => ({
      ...common,
      type: "database_snapshots",
      relationships: { database: { data: id === null ? null : { id, type: "databases" } } },
    }),
  };
}

/** A snapshot below the path of its cluster, where some clients look for it. */
function ofCluster(
  context: KindContext,
  kind: SnapshotKind<DatabaseClusterRow, typeof clusterParams>,
): Operation[] {
  const find = async (organizationId: string, { id, snapshot }: { id: string; snapshot: string }) => {
    const row = await findSnapshot(context.db, organizationId, "databases", snapshot);
    return row?.archiveId === id ? row : undefined;
  };
  const routes = new Routes<SnapshotRow, typeof clusterParams, typeof clusterSnapshotParams>({
    ...snapshotRouting(context, kind),
    idNoun: "DatabaseClusterSnapshot",
    item: {
      path: `${PATH}/snapshots/:snapshot`,
      params: clusterSnapshotParams,
      idOf: ({ snapshot }) => snapshot,
    },
    find,
  });
  return [
    routes.show({ description: "The same as `GET /database-snapshots/{id}`." }),
    routes.delete({
      description: "The same as `DELETE /database-snapshots/{id}`.",
      canRefuse: true,
      async delete(request) {
        const { principal, params } = request;
        if ((await find(principal.organizationId, params)) === undefined) throw notFound("snapshot");
        await deleteSnapshot(context, kind, { ...request, params: { id: params.snapshot } });
      },
    }),
  ];
}

/** Both spellings of the path. */
function restores(context: KindContext): Operation[] {
  return [
    { path: `${PATH}/restore`, idNoun: "DatabaseRestore" },
    { path: `${PATH}/restores`, idNoun: "DatabaseClusterRestore" },
  ].map(({ path, idNoun }) =>
    copies(context, path, idNoun).create({
      summary: "Restore a snapshot or an instant to a new cluster",
      description:
        "Answers at once with a new cluster, which is `restoring` and then `available`, or `restore_failed` with its reason in `meta.last_error`. It has its own port and password and no schedule; the source is only read. Deleting the new cluster cancels the restore. A deleted cluster can be restored while its backups are kept.",
      successText: "The new cluster, which is being restored.",
      body: newDatabaseRestore,
      isIncluding: true,
      check: checkDatabaseRestore,
      create: (request) => restoreDatabaseCluster(context, request),
    }),
  );
}

function clone(context: KindContext): Operation {
  return copies(context, `${PATH}/clone`, "DatabaseClone").create({
    summary: "Clone a database cluster",
    description:
      "Answers at once with a new cluster, which is `restoring` until it has the data of now, or of `restore_time`. It has its own port and password and no schedule. A cluster that sleeps is cloned without waking it.",
    successText: "The new cluster, which is being made.",
    body: newDatabaseClone,
    isIncluding: true,
    create: (request) => cloneDatabaseCluster(context, request),
  });
}

function refresh(context: KindContext): Operation {
  return copies(context, PATH, "DatabaseCluster").action({
    verb: "refresh",
    summary: "Refresh a clone from its parent",
    description:
      "Gives a clone the data of the cluster that it was cloned from again, of now or of `restore_time`; its own data is deleted. It keeps its id, name, address, port, password and settings. The cluster is `updating` and serves its former data until the new data is whole and, for a clone with a `mask`, masked; then it restarts with that. When that fails, it keeps its former data, and `meta.refresh` says why.",
    successText: "The clone, which is being refreshed.",
    body: databaseRefresh,
    isIdempotent: true,
    canConflict: true,
    act: (request) => refreshDatabaseCluster(context, request),
  });
}

/** The routes of new clusters with the data of others. */
function copies(
  context: KindContext,
  path: string,
  idNoun: string,
): Routes<DatabaseClusterRow, typeof clusterParams, typeof clusterParams> {
  return new Routes({
    tag: "Database Restores",
    kind: "databases",
    idNoun,
    noun: "database cluster",
    shortNoun: "cluster",
    phrases: { one: "a database cluster", many: "database clusters" },
    collection: { path, params: clusterParams },
    item: { path: PATH, params: clusterParams, idOf: ({ id }: z.output<typeof clusterParams>) => id },
    schema: databaseClusterResource,
    relatedSchema: databaseResource,
    includes: ["databases"],
    statuses: databaseClusterStatuses,
    find: (organizationId: string, { id }: { id: string }) =>
      findDatabaseCluster(context.db, organizationId, id),
    render: (row, principal) => renderDatabaseCluster(row, context, principal),
    related: (_wanted: readonly string[], rows: DatabaseClusterRow[]) =>
      rows.flatMap(({ schemas }) => schemas.map(renderDatabase)),
  });
}
