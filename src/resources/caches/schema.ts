// The shapes of requests for a cache, and of a cache in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi/jsonapi.ts";
import type { FieldErrors } from "../../api/jsonapi/errors.ts";
import { longEnumerations, suggestion } from "../../api/operation/validation.ts";
import { backupField, originField, restoreField } from "../shared/backup-schema.ts";
import {
  clusterIdField,
  clusterIdFaults,
  createdAt,
  credentialFields,
  metaFields,
  nameField,
} from "../shared/fields.ts";
import { enforcedByField, maxProcessesField, totalMemoryField } from "../shared/limits.ts";
import { region } from "../shared/regions.ts";
import { formerPasswordField } from "../shared/rotation-schema.ts";
import { sleepField } from "../shared/sleep.ts";
import { cacheSizes, cacheTypeLabels, cacheTypes, sizesByType, type CacheType } from "./sizes.ts";

export type { KeyDocument, KeyElement, KeysDocument, KeysQuery, KeyText, ListedKey } from "./keys/schema.ts";
export type { CacheMetrics } from "./metrics/schema.ts";

export const cacheStatuses = [
  "creating",
  "restoring",
  "restore_failed",
  "updating",
  "available",
  "stopped",
  "deleting",
  "deleted",
  "unknown",
] as const;

const evictionPolicies = [
  "allkeys-lru",
  "noeviction",
  "volatile-lru",
  "allkeys-random",
  "volatile-random",
  "volatile-ttl",
  "allkeys-lfu",
  "volatile-lfu",
] as const;

export type CacheStatus = (typeof cacheStatuses)[number];
export type CacheEvictionPolicy = (typeof evictionPolicies)[number];

const TYPES_COMMAND = "pilvi caches types";

const type = z.enum(cacheTypes).meta({
  id: "CacheType",
  description: "The type of cache. `meta.engine` names the engine that runs.",
  example: "platform_valkey",
});

const size = z.enum(cacheSizes).meta({
  id: "CacheSize",
  description:
    "How much memory keys and values may take: bare sizes for `hosted_redis`, `valkey-*` for `platform_valkey`, `managed.cache.*` for the `provider_managed_*` types.",
  example: "valkey-flex-250mb",
});
longEnumerations.add(size, { command: TYPES_COMMAND });

const evictionPolicy = z.enum(evictionPolicies).meta({
  id: "CacheEvictionPolicy",
  description: "Which keys are dropped when the memory is full.",
  example: "allkeys-lru",
});

const hibernationTimeout = z.int().min(1).max(60).meta({
  description:
    "Minutes without use after which a hibernating cache sleeps. A client that is connected and idle is no use.",
  example: 5,
});

const name = nameField("Need not be unique.", "sessions");

const autoUpgrade = z.boolean().meta({
  description: "Whether the cache takes the next size when it is full; stored and shown, without effect yet.",
  example: false,
});

const isPublic = z
  .boolean()
  .meta({ description: "Whether other machines can reach the cache.", example: false });

const usesHibernation = z
  .boolean()
  .meta({ description: "Whether the cache sleeps when no client uses it.", example: false });

/** The rules of each type, as JSON Schema; `checkNewCache` has the same rules in code. */
function variantOf(cacheType: CacheType) {
  return {
    type: "object" as const,
    title: cacheTypeLabels[cacheType],
    properties: {
      type: { const: cacheType },
      size: { enum: [...sizesByType[cacheType]] },
      ...(!isValkeyType(cacheType) && { eviction_policy: { type: "null" as const } }),
    },
  };
}

/** The body of `POST /caches`. */
export const newCache = z
  .object({
    type,
    name,
    region,
    size,
    auto_upgrade_enabled: autoUpgrade.default(false),
    is_public: isPublic.default(false),
    cluster_id: clusterIdField(),
    eviction_policy: evictionPolicy.optional().meta({
      description: "Only for the Valkey types; `allkeys-lru` when left out.",
      example: "allkeys-lru",
    }),
    uses_hibernation: usesHibernation.default(false),
    hibernation_timeout: hibernationTimeout.default(5),
  })
  .meta({ id: "NewCache", override: { oneOf: cacheTypes.map(variantOf) } });

export type NewCache = z.output<typeof newCache>;
/** The body as clients send it, without the defaults. */
export type NewCacheBody = z.input<typeof newCache>;

/** Whether the customer chooses the eviction policy of caches of this type. */
export function isValkeyType(cacheType: CacheType): boolean {
  return cacheType === "platform_valkey" || cacheType === "provider_managed_valkey";
}

/** The errors between fields, derived from the fields that are valid by themselves. */
export function checkNewCache(valid: Partial<NewCache>): FieldErrors {
  const errors = clusterIdFaults(valid.cluster_id);
  return valid.type === undefined ? errors : { ...errors, ...variantFaults(valid.type, valid) };
}

/** The body of `PATCH /caches/:id`. */
export const cacheChange = z
  .object({
    name: name.optional(),
    size: size.optional(),
    auto_upgrade_enabled: autoUpgrade.optional(),
    is_public: isPublic.optional(),
    eviction_policy: evictionPolicy
      .optional()
      .meta({ description: "Only for the Valkey types.", example: "allkeys-lru" }),
    uses_hibernation: usesHibernation.optional(),
    hibernation_timeout: hibernationTimeout.optional(),
  })
  .meta({ id: "CacheChange" });

/** The members of a cache to change; the rest stays as it is. */
export type CacheChange = z.output<typeof cacheChange>;

/** The members that a cache of this type cannot have. */
export function variantFaults(
  cacheType: CacheType,
  { size: wanted, eviction_policy: policy }: Pick<CacheChange, "size" | "eviction_policy">,
): FieldErrors {
  const errors: FieldErrors = {};
  if (wanted !== undefined && !sizesByType[cacheType].includes(wanted)) {
    const near = suggestion(wanted, sizesByType[cacheType], TYPES_COMMAND);
    errors.size = [`The size ${wanted} does not belong to the type ${cacheType}; ${near}.`];
  }
  if (policy !== undefined && !isValkeyType(cacheType)) {
    errors.eviction_policy = ["The eviction policy can be chosen for Valkey types only."];
  }
  return errors;
}

const connection = z
  .object({
    hostname: z.string().meta({ description: "The name or address to connect to.", example: "127.0.0.1" }),
    port: z.int().min(1).max(65_535).meta({ description: "The cache's for life.", example: 20_000 }),
    protocol: z
      .enum(["redis", "rediss"])
      .meta({ description: "The scheme of a connection URL; `rediss` is with TLS.", example: "redis" }),
    ...credentialFields("caches", "CacheCredentials"),
  })
  .meta({ id: "CacheConnection", description: "How to reach the cache." });

const attributes = z
  .object({
    name: z.string().meta({ example: "sessions" }),
    type,
    status: z.enum(cacheStatuses).meta({
      id: "CacheStatus",
      description: "`available` means that a login with the cache's own credentials worked.",
      example: "available",
    }),
    region,
    size,
    auto_upgrade_enabled: z.boolean().meta({ example: false }),
    is_public: z.boolean().meta({ example: false }),
    eviction_policy: evictionPolicy,
    uses_hibernation: z.boolean().meta({ example: false }),
    hibernation_timeout: hibernationTimeout,
    created_at: createdAt,
    connection,
  })
  .meta({ id: "CacheAttributes" });

const meta = z
  .object({
    ...metaFields("cache", { name: "valkey", version: "8.0.6" }),
    sleep: sleepField,
    former_credentials: formerPasswordField,
    backup: backupField,
    restore: restoreField,
    origin: originField,
    limits: z
      .object({
        memory_bytes: z.int().min(0).meta({ description: "For keys and values.", example: 262_144_000 }),
        total_memory_bytes: totalMemoryField,
        max_processes: maxProcessesField,
        enforced_by: enforcedByField,
      })
      .nullable()
      .meta({
        description: "The limits in force; on a small machine they are below those of the size.",
        example: {
          memory_bytes: 262_144_000,
          total_memory_bytes: 926_941_184,
          max_processes: 64,
          enforced_by: "cgroup-v2",
        },
      }),
  })
  .meta({ id: "CacheMeta", description: "Facts beyond the attributes." });

/** A cache as answers show it. */
export const cacheResource = z
  .object({
    id: z.string().meta({ example: "cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("caches"),
    attributes,
    relationships: z.object({
      environments: z
        .object({ data: z.array(resourceIdentifier("environments")) })
        .meta({ description: "Environments that use the cache." }),
    }),
    meta,
  })
  .meta({ id: "Cache" });

export type CacheResource = z.output<typeof cacheResource>;

/** The available cache types, as `GET /caches/types` lists them. */
export const cacheTypeList = z.object({
  data: z.array(
    z
      .object({
        type,
        label: z.string().meta({ example: "Valkey" }),
        regions: z.array(region),
        sizes: z.array(
          z.object({
            value: size,
            label: z.string().meta({ example: "Flex 250 MB" }),
          }),
        ),
        supports_auto_upgrade: z.boolean().meta({ example: true }),
      })
      .meta({ id: "CacheTypeDescription" }),
  ),
});

export type CacheTypeList = z.output<typeof cacheTypeList>;
