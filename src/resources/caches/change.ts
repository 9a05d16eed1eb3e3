// Changes a cache: one transaction with the row, the work item, and the audit.
import { isDeepStrictEqual } from "node:util";
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { FieldErrors } from "../../api/jsonapi/errors.ts";
import type { KindContext } from "../kind.ts";
import { changed, recordRequest } from "../shared/events/record.ts";
import { reallocate } from "../shared/quotas.ts";
import { enqueueChange, lockInstance, refuseDeleting } from "../shared/desired-state.ts";
import { allocationFields, allocationOf } from "./allocation.ts";
import { variantFaults, type CacheChange } from "./schema.ts";
import { cacheSearch } from "./search.ts";
import { specOf } from "./spec.ts";
import { findCache, updateCache, type CacheRow, type CacheSettings } from "./store.ts";

/** The errors of a change that depend on the cache; empty for a missing cache. */
export async function checkChange(
  { db }: KindContext,
  change: Partial<CacheChange>,
  { organizationId, id }: { organizationId: string; id: string },
): Promise<FieldErrors> {
  // The check needs only the type, which never changes, so it takes no lock.
  const cache = await findCache(db, organizationId, id);
  return cache === undefined ? {} : variantFaults(cache.type, change);
}

/**
 * Writes the change. A change of members that the driver does not get enqueues no work item.
 * @throws ApiError 404, 409 when the cache is being deleted, or 422 when the change exceeds a quota.
 */
export async function changeCache(
  context: KindContext,
  { principal, requestId, body, params }: OperationRequest<CacheChange, unknown, { id: string }>,
): Promise<CacheRow> {
  const { organizationId } = principal;
  return await context.db.begin(async (tx) => {
    const cache = await lockInstance(tx, cacheSearch, organizationId, params.id);
    refuseDeleting(cache, cacheSearch.noun);
    const row = { ...cache, ...settingsOf(body, cache) };
    await updateCache(tx, cache.id, row);
    if (!isDeepStrictEqual(specOf(row, context), specOf(cache, context))) {
      await enqueueChange(tx, cacheSearch.kind, cache);
    }
    const event = changed({ type: "caches", id: cache.id, name: row.name }, body);
    const record = { principal, requestId, action: "update", kind: cacheSearch.kind, details: body, event };
    await recordRequest(tx, record);
    const order = {
      kind: cacheSearch.kind,
      id: cache.id,
      allocation: allocationOf(row),
      fields: allocationFields,
    };
    await reallocate(tx, context.quotas, principal, order);
    return (await findCache(tx, organizationId, cache.id)) ?? row;
  });
}

function settingsOf(change: CacheChange, cache: CacheRow): CacheSettings {
  return {
    name: change.name ?? cache.name,
    size: change.size ?? cache.size,
    autoUpgradeEnabled: change.auto_upgrade_enabled ?? cache.autoUpgradeEnabled,
    isPublic: change.is_public ?? cache.isPublic,
    evictionPolicy: change.eviction_policy ?? cache.evictionPolicy,
    usesHibernation: change.uses_hibernation ?? cache.usesHibernation,
    hibernationTimeout: change.hibernation_timeout ?? cache.hibernationTimeout,
  };
}
