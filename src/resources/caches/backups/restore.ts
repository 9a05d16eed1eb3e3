// Restores a snapshot to a new cache, and clones a cache. The source is only read.
import { invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { replayedOr } from "../../../api/operation/idempotency.ts";
import type { OperationRequest } from "../../../api/operation/operation.ts";
import type { EngineName } from "../../../contracts/engine-names.ts";
import type { KindContext } from "../../kind.ts";
import { findArchive } from "../../shared/backups/archives.ts";
import { refuseAsSource, type StoredOrigin } from "../../shared/backups/origin.ts";
import { planOf } from "../../shared/backups/plan.ts";
import { findSnapshot } from "../../shared/backups/snapshots.ts";
import { createInstance, newLogin, RESTORE_DEADLINE_SECONDS } from "../../shared/create.ts";
import type { NewCacheClone, NewCacheRestore } from "../../shared/restore-schema.ts";
import type { Made } from "../../shared/routed-resource.ts";
import { allocationOf } from "../allocation.ts";
import { enginesFor } from "../engines.ts";
import { findCache, insertCache, type CacheRow } from "../store.ts";
import { sourceOf, type CacheSource } from "./source.ts";

type Request<Body> = OperationRequest<Body, unknown, { id: string }>;

/**
 * Restores a snapshot, also of a deleted cache.
 * @throws ApiError 404, or 422 when it cannot be restored or exceeds a quota.
 */
export async function restoreCache(
  context: KindContext,
  request: Request<NewCacheRestore>,
): Promise<Made<CacheRow>> {
  return await replayedOr(context.db, request, findCache, () => restoreSnapshot(context, request));
}

async function restoreSnapshot(
  context: KindContext,
  request: Request<NewCacheRestore>,
): Promise<Made<CacheRow>> {
  const { db, hosts } = context;
  const field = "cache_snapshot_id";
  const { organizationId } = request.principal;
  const { id } = request.params;
  const cache = await findCache(db, organizationId, id);
  const archive = await findArchive<CacheSource>(db, organizationId, id);
  const source = cache === undefined ? archive?.source : sourceOf(cache);
  if (source === undefined || archive?.isPurged === true) throw notFound("cache");
  const snapshotId = request.body.cache_snapshot_id;
  const snapshot = await findSnapshot(db, organizationId, "caches", snapshotId);
  if (snapshot === undefined || snapshot.archiveId !== id) {
    throw invalid({ [field]: ["There is no such snapshot of this cache."] });
  }
  if (snapshot.status !== "available") {
    throw invalid({ [field]: [`The snapshot is ${snapshot.status}, so it cannot be restored.`] });
  }
  const { driver } = hosts.of(snapshot.hostId);
  const { backup } = await planOf(driver, id, { target: { backup: snapshotId }, field });
  const origin = { from: { archive: id, backup: snapshotId }, engine: backup.engine.name };
  return await createCopy(context, request, source, origin);
}

/**
 * Clones a cache as it is now.
 * @throws ApiError 404, 409 when it has no data to clone, or 422 when it exceeds a quota.
 */
export async function cloneCache(
  context: KindContext,
  request: Request<NewCacheClone>,
): Promise<Made<CacheRow>> {
  return await replayedOr(context.db, request, findCache, async () => {
    const cache = await findCache(context.db, request.principal.organizationId, request.params.id);
    if (cache === undefined) throw notFound("cache");
    refuseAsSource(cache, "cache");
    const origin = { from: { instance: cache.id }, engine: engineOf(cache, context) };
    return await createCopy(context, request, sourceOf(cache), origin);
  });
}

/** The engine that a cache runs on; for a cache that has none yet, the engine that it prefers. */
function engineOf({ id, hostId, engine, type }: CacheRow, { hosts }: KindContext): EngineName {
  const seen = hosts.of(hostId).observedStates.of(id)?.engine ?? engine;
  return seen?.name ?? enginesFor(type)[0];
}

async function createCopy(
  context: KindContext,
  request: Request<{ name: string }>,
  { type, region, name: _formerName, ...settings }: CacheSource,
  origin: StoredOrigin,
): Promise<Made<CacheRow>> {
  const asked = { ...request, body: { ...request.body, region } };
  return await createInstance<CacheRow>(context, asked, {
    kind: "caches",
    deadlineSeconds: RESTORE_DEADLINE_SECONDS,
    insert: (tx, values) =>
      insertCache(tx, { ...settings, ...values, ...newLogin(context, values.id), type, origin }),
    find: findCache,
    allocationOf,
    allocationFields: { memory: "name", connections: "name" },
  });
}
