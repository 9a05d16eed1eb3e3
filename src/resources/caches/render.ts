// Renders a cache for the token of the request.
import type { Principal } from "../../api/auth/auth.ts";
import type { KindContext } from "../kind.ts";
import { renderBackup, renderOrigin, renderRestore } from "../shared/backups/render.ts";
import { credentialsOf } from "../shared/connection.ts";
import { renderFormer } from "../shared/former-password.ts";
import { renderSleep, sleepErrorOf } from "../shared/sleep.ts";
import { renderWhole } from "../shared/limits.ts";
import { exposureOf } from "./exposure.ts";
import type { CacheResource } from "./schema.ts";
import type { CacheRow } from "./store.ts";

/** The resource object; it has credentials only for a token that may see them. */
export function renderCache(cache: CacheRow, context: KindContext, principal: Principal): CacheResource {
  const { scope, through } = exposureOf(cache);
  const host = context.hosts.of(cache.hostId);
  const seen = host.observedStates.of(cache.id);
  return {
    id: cache.id,
    type: "caches",
    attributes: {
      name: cache.name,
      type: cache.type,
      status: cache.status,
      region: cache.region,
      size: cache.size,
      auto_upgrade_enabled: cache.autoUpgradeEnabled,
      is_public: cache.isPublic,
      eviction_policy: cache.evictionPolicy,
      uses_hibernation: cache.usesHibernation,
      hibernation_timeout: cache.hibernationTimeout,
      created_at: cache.createdAt,
      connection: {
        hostname: host.hostnames[scope],
        port: cache.port,
        protocol: cache.isPublic && host.isTls ? "rediss" : "redis",
        ...credentialsOf(cache, context, principal, "caches:credentials"),
      },
    },
    relationships: {
      environments: { data: cache.environmentIds.map((id) => ({ id, type: "environments" })) },
    },
    meta: {
      engine: seen?.engine ?? cache.engine,
      limits: cache.limits && { memory_bytes: cache.limits.memoryBytes, ...renderWhole(cache.limits) },
      sleep: renderSleep(seen, through),
      last_error: cache.lastError ?? cache.origin?.error ?? sleepErrorOf(seen),
      overdue: cache.isOverdue,
      former_credentials: renderFormer(cache),
      storage_bytes: cache.storageBytes,
      backup: renderBackup(cache.id, host),
      restore: renderRestore(cache, host),
      origin: renderOrigin(cache.origin),
    },
  };
}
