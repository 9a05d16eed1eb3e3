// Creates a cache.
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { createInstance, newLogin } from "../shared/create.ts";
import { allocationFields, allocationOf } from "./allocation.ts";
import { isValkeyType, type NewCache } from "./schema.ts";
import { findCache, insertCache, type CacheRow } from "./store.ts";

/** Creates the requested cache, or finds the cache that the same Idempotency-Key created before. */
export async function createCache(
  context: KindContext,
  request: OperationRequest<NewCache>,
): Promise<{ row: CacheRow; isReplayed: boolean }> {
  const { body } = request;
  return await createInstance<CacheRow>(context, request, {
    kind: "caches",
    insert: (tx, values) =>
      insertCache(tx, {
        ...values,
        ...newLogin(context, values.id),
        type: body.type,
        size: body.size,
        autoUpgradeEnabled: body.auto_upgrade_enabled,
        isPublic: body.is_public,
        evictionPolicy: body.eviction_policy ?? (isValkeyType(body.type) ? "allkeys-lru" : "noeviction"),
        usesHibernation: body.uses_hibernation,
        hibernationTimeout: body.hibernation_timeout,
        origin: null,
      }),
    find: findCache,
    allocationOf,
    allocationFields,
  });
}
