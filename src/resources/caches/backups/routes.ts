// The operations of backups of caches: snapshots, restores, clones.
import type { z } from "zod";
import type { Operation } from "../../../api/operation/operation.ts";
import { attachedEnvironments } from "../../applications/index.ts";
import type { KindContext } from "../../kind.ts";
import { backupsOperations } from "../../shared/backups/backups-routes.ts";
import { snapshotOperations } from "../../shared/backups/snapshot-routes.ts";
import { newCacheClone, newCacheRestore } from "../../shared/restore-schema.ts";
import { Routes } from "../../shared/routes.ts";
import { cacheSnapshotResource } from "../../shared/snapshot-schema.ts";
import { cacheParams } from "../params.ts";
import { renderCache } from "../render.ts";
import { cacheResource, cacheStatuses } from "../schema.ts";
import { cacheSearch } from "../search.ts";
import { findCache, type CacheRow } from "../store.ts";
import { cloneCache, restoreCache } from "./restore.ts";
import { sourceOf } from "./source.ts";

const PATH = "/caches/:id";

/** All of them. */
export function cacheBackupOperations(context: KindContext): Operation[] {
  const { db } = context;
  return [
    ...snapshotOperations<CacheRow, typeof cacheParams>(context, {
      kind: "caches",
      tag: "Cache Snapshots",
      idNoun: "CacheSnapshot",
      instance: "a cache",
      search: cacheSearch,
      path: PATH,
      params: cacheParams,
      snapshotsPath: "/cache-snapshots",
      schema: cacheSnapshotResource,
      relationship: "cache",
      relatedSchema: cacheResource,
      sourceOf,
      policyOf: () => null,
      render: (row, principal) => renderCache(row, context, principal),
      resourceOf: (common, id) => ({
        ...common,
        type: "cache_snapshots",
        relationships: { cache: { data: id === null ? null : { id, type: "caches" } } },
      }),
    }),
    restore(context),
    clone(context),
    ...backupsOperations(context, {
      kind: "caches",
      tag: "Backups",
      path: PATH,
      params: cacheParams,
      idNoun: "Cache",
      noun: "cache",
      exists: async (organizationId, id) => (await findCache(db, organizationId, id)) !== undefined,
    }),
  ];
}

function restore(context: KindContext): Operation {
  return copies(context, `${PATH}/restore`, "CacheRestore").create({
    summary: "Restore a snapshot to a new cache",
    description:
      "Answers at once with a new cache of the same engine, which is `restoring` and then `available`, or `restore_failed` with its reason in `meta.last_error`. It has its own port and password; the source is only read. Deleting the new cache cancels the restore.",
    successText: "The new cache, which is being restored.",
    body: newCacheRestore,
    create: (request) => restoreCache(context, request),
  });
}

function clone(context: KindContext): Operation {
  return copies(context, `${PATH}/clone`, "CacheClone").create({
    summary: "Clone a cache",
    description:
      "Answers at once with a new cache, which is `restoring` until it has the keys of now. It has its own port and password. A cache that sleeps is cloned without waking it.",
    successText: "The new cache, which is being made.",
    body: newCacheClone,
    create: (request) => cloneCache(context, request),
  });
}

/** The routes of new caches with the data of others. */
function copies(
  context: KindContext,
  path: string,
  idNoun: string,
): Routes<CacheRow, typeof cacheParams, typeof cacheParams> {
  return new Routes({
    tag: "Cache Restores",
    kind: "caches",
    idNoun,
    noun: "cache",
    shortNoun: "cache",
    phrases: { one: "a cache", many: "caches" },
    collection: { path, params: cacheParams },
    item: { path: PATH, params: cacheParams, idOf: ({ id }: z.output<typeof cacheParams>) => id },
    schema: cacheResource,
    includes: ["environments"],
    statuses: cacheStatuses,
    find: (organizationId: string, { id }: { id: string }) => findCache(context.db, organizationId, id),
    render: (row, principal) => renderCache(row, context, principal),
    related: (_wanted, rows, { principal }) => attachedEnvironments(context, principal, rows),
  });
}
