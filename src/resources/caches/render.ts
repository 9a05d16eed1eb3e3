// What an answer says about a cache, for the token that asks.
import { can, type Principal } from "../../api/auth.ts";
import type { KindContext } from "../kind.ts";
import type { CacheResource } from "./schema.ts";
import type { CacheRow } from "./store.ts";

/** The resource; credentials are in it only for a token that may see them. */
export function renderCache(cache: CacheRow, context: KindContext, principal: Principal): CacheResource {
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
      connection: connectionOf(cache, context, can(principal, "caches:credentials")),
    },
    relationships: { environments: { data: [] } },
    meta: {
      engine: cache.engine,
      limits: cache.limits && { memory_bytes: cache.limits.memoryBytes },
      sleep: { state: "awake" },
      last_error: cache.lastError,
      overdue: cache.isOverdue,
    },
  };
}

function connectionOf(cache: CacheRow, context: KindContext, maySeeCredentials: boolean) {
  const address = {
    hostname: cache.isPublic ? context.hostnames.public : context.hostnames.loopback,
    port: cache.port,
    protocol: cache.isPublic && context.isTls ? ("rediss" as const) : ("redis" as const),
  };
  if (!maySeeCredentials) return { ...address, "": [] };
  const credentials = {
    username: cache.username,
    password: context.vault.open(cache.sealedPassword, cache.id),
  };
  // Clients read them inline, and the contract has them in the member with the empty name.
  return { ...address, "": credentials, ...credentials };
}
