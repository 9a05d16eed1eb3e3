// What a request for a cache may say and what a cache looks like in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi.ts";
import type { FieldErrors } from "../../api/operation.ts";
import { cacheSizes, cacheTypeLabels, cacheTypes, sizesByType, type CacheType } from "./sizes.ts";

export const regions = [
  "us-east-1",
  "us-east-2",
  "ca-central-1",
  "eu-central-1",
  "eu-west-1",
  "eu-west-2",
  "eu-west-3",
  "me-central-1",
  "ap-southeast-1",
  "ap-southeast-2",
  "ap-northeast-1",
] as const;

export const cacheStatuses = [
  "creating",
  "updating",
  "available",
  "stopped",
  "deleting",
  "deleted",
  "unknown",
] as const;

export const evictionPolicies = [
  "allkeys-lru",
  "noeviction",
  "volatile-lru",
  "allkeys-random",
  "volatile-random",
  "volatile-ttl",
  "allkeys-lfu",
  "volatile-lfu",
] as const;

export type CloudRegion = (typeof regions)[number];
export type CacheStatus = (typeof cacheStatuses)[number];
export type CacheEvictionPolicy = (typeof evictionPolicies)[number];

const type = z.enum(cacheTypes).meta({
  id: "CacheType",
  description: "What is ordered. Which engine runs is told by `meta.engine`.",
  example: "platform_valkey",
});

const region = z.enum(regions).meta({
  id: "CloudRegion",
  description: "A label; one machine serves all regions.",
  example: "eu-central-1",
});

const size = z.enum(cacheSizes).meta({
  id: "CacheSize",
  description:
    "How much memory keys and values may take: bare sizes for `hosted_redis`, `valkey-*` for `platform_valkey`, `managed.cache.*` for the `provider_managed_*` types.",
  example: "valkey-flex-250mb",
});

const evictionPolicy = z.enum(evictionPolicies).meta({
  id: "CacheEvictionPolicy",
  description: "Which keys are dropped when the memory is full.",
  example: "allkeys-lru",
});

const name = z
  .string()
  .min(2)
  .max(40)
  .regex(/^[a-z0-9_-]+$/, "may have lowercase letters, digits, underscores and hyphens only")
  .meta({ description: "Need not be unique.", example: "sessions" });

const hibernationTimeout = z
  .int()
  .min(1)
  .max(60)
  .meta({ description: "Minutes without a client after which a hibernating cache sleeps.", example: 5 });

/** What a type allows, as JSON Schema; `checkNewCache` is the same in code. */
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
    auto_upgrade_enabled: z
      .boolean()
      .default(false)
      .meta({ description: "Whether the cache takes the next size when it is full.", example: false }),
    is_public: z
      .boolean()
      .default(false)
      .meta({ description: "Whether other machines can reach the cache.", example: false }),
    cluster_id: z
      .string()
      .optional()
      .meta({ description: "A dedicated cluster to place the cache on. There are none yet.", example: null }),
    eviction_policy: evictionPolicy.optional().meta({
      description: "Only for the Valkey types, where it is `allkeys-lru` when left out.",
      example: "allkeys-lru",
    }),
    uses_hibernation: z
      .boolean()
      .default(false)
      .meta({ description: "Whether the cache sleeps when nobody uses it.", example: false }),
    hibernation_timeout: hibernationTimeout.default(5),
  })
  .meta({ id: "NewCache", override: { oneOf: cacheTypes.map(variantOf) } });

export type NewCache = z.output<typeof newCache>;

/** Whether caches of this type have an eviction policy of the customer's choice. */
export function isValkeyType(cacheType: CacheType): boolean {
  return cacheType === "platform_valkey" || cacheType === "provider_managed_valkey";
}

/** The faults between fields, told by those that are valid by themselves. */
export function checkNewCache(valid: Partial<NewCache>): FieldErrors {
  const errors: FieldErrors = {};
  if (valid.cluster_id !== undefined) {
    errors.cluster_id = ["There is no dedicated cluster with this id."];
  }
  if (valid.type === undefined) return errors;
  if (valid.size !== undefined && !sizesByType[valid.type].includes(valid.size)) {
    errors.size = [`The size ${valid.size} does not belong to the type ${valid.type}.`];
  }
  if (valid.eviction_policy !== undefined && !isValkeyType(valid.type)) {
    errors.eviction_policy = ["The eviction policy can be chosen for Valkey types only."];
  }
  return errors;
}

const credentials = z.object({ username: z.string(), password: z.string() }).meta({
  id: "CacheCredentials",
  example: { username: "app", password: "3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9a" },
});

const connection = z
  .object({
    hostname: z.string().meta({ description: "The name or address to connect to.", example: "127.0.0.1" }),
    port: z.int().min(1).max(65_535).meta({ description: "The cache's for life.", example: 20_000 }),
    protocol: z
      .enum(["redis", "rediss"])
      .meta({ description: "The scheme of a connection URL; `rediss` is with TLS.", example: "redis" }),
    "": z.union([credentials, z.array(z.unknown()).max(0)]).meta({
      description:
        "The credentials, or an empty array for a token without the ability `caches:credentials`. The member's name is empty.",
    }),
    username: z
      .string()
      .optional()
      .meta({ description: "The same as in the member with the empty name.", example: "app" }),
    password: z.string().optional().meta({
      description: "The same as in the member with the empty name.",
      example: "3Zp0vXkq7TzN1hYcR8mWb2LsJ5dQfG9a",
    }),
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
    created_at: z.iso.datetime({ precision: 6 }).meta({
      description: "UTC, with microseconds.",
      example: "2026-03-15T08:18:53.000000Z",
      override: { pattern: undefined },
    }),
    connection,
  })
  .meta({ id: "CacheAttributes" });

const meta = z
  .object({
    engine: z
      .object({ name: z.string(), version: z.string() })
      .nullable()
      .meta({
        description: "The engine that really runs; null until it was chosen.",
        example: { name: "valkey", version: "8.0.6" },
      }),
    limits: z
      .object({ memory_bytes: z.int().min(0) })
      .nullable()
      .meta({
        description: "What is really in force, which a small machine makes less than the size says.",
        example: { memory_bytes: 262_144_000 },
      }),
    sleep: z
      .object({ state: z.enum(["awake"]) })
      .meta({ description: "Whether the cache sleeps.", example: { state: "awake" } }),
    last_error: z
      .string()
      .nullable()
      .meta({ description: "Why the last attempt to bring the cache to its state failed.", example: null }),
    overdue: z
      .boolean()
      .meta({ description: "Whether the state takes longer than it should.", example: false }),
  })
  .meta({ id: "CacheMeta", description: "What is known beyond the attributes." });

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

/** What can be ordered, as `GET /caches/types` tells it. */
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
