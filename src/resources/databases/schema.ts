// The shapes of requests for a database cluster, and of a database cluster in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi/jsonapi.ts";
import type { FieldErrors } from "../../api/jsonapi/errors.ts";
import { backupField, originField, restoreField } from "../shared/backup-schema.ts";
import {
  clusterIdField,
  clusterIdFaults,
  createdAt,
  credentialFields,
  metaFields,
  nameField,
} from "../shared/fields.ts";
import { enforcedByField, maxProcessesField } from "../shared/limits.ts";
import { region } from "../shared/regions.ts";
import { formerPasswordField } from "../shared/rotation-schema.ts";
import { sleepField } from "../shared/sleep.ts";
import { changeSchemaOf, requestSchemaOf } from "./configs/describe.ts";
import { changedMembers, configVariants, knownMembers } from "./configs/index.ts";
import { managedPostgres } from "./configs/managed.ts";
import { platformMysql } from "./configs/platform-mysql.ts";
import { serverless } from "./configs/serverless.ts";
import { refreshField } from "./refreshes/schema.ts";
import { replicasField } from "./replicas/schema.ts";
import { databaseTypeLabels, databaseTypes, type DatabaseType } from "./types.ts";

// Clients of the API import only this file of the slice.
export type { NewDatabase, DatabaseResource, DatabaseStatus } from "./schemas/schema.ts";

export type * from "./queries/schema.ts";

export type {
  CacheSnapshotResource,
  DatabaseSnapshotResource,
  NewSnapshotBody,
  SnapshotStatus,
} from "../shared/snapshot-schema.ts";
export type * from "../shared/restore-schema.ts";
export type { DatabaseMetrics } from "./metrics/schema.ts";
export type { NewQueryBody, QueryDocument } from "./query/schema.ts";

export const databaseClusterStatuses = [
  "creating",
  "updating",
  "restarting",
  "upgrading",
  "moving",
  "available",
  "stopped",
  "restoring",
  "restore_failed",
  "disabled",
  "snapshotting_before_archiving",
  "archiving",
  "archived",
  "deleting",
  "deleted",
  "unknown",
] as const;

export type DatabaseClusterStatus = (typeof databaseClusterStatuses)[number];

const type = z.enum(databaseTypes).meta({
  id: "DatabaseType",
  description: "The type of database cluster. `meta.engine` names the engine that runs.",
  example: "hosted_serverless_postgres",
});

/** The rules of each type, as JSON Schema; `checkNewDatabaseCluster` has the same rules in code. */
function variantOf(databaseType: DatabaseType) {
  return {
    type: "object" as const,
    title: databaseTypeLabels[databaseType],
    properties: {
      type: { const: databaseType },
      config: requestSchemaOf(databaseType),
      ...(cannotBeEmpty(databaseType) && {
        create_default_database: { anyOf: [{ const: true }, { type: "null" as const }] },
      }),
    },
  };
}

/** The body of `POST /databases/clusters`. */
export const newDatabaseCluster = z
  .object({
    type,
    version: z.string().min(1).max(40).optional().meta({
      description:
        "The engine's version, such as `17`: a version that `GET /databases/types` lists, or an installed version in full. The newest when left out.",
      example: "18",
    }),
    name: nameField("Need not be unique.", "orders"),
    region,
    config: z
      .record(z.string(), z.unknown())
      .transform(knownMembers)
      .optional()
      .meta({
        description: "The settings of the type; every member has a default.",
        example: { cu_min: 0.25, cu_max: 1 },
      }),
    create_default_database: z.boolean().default(true).meta({
      description:
        "Whether the cluster begins with a database named `main`; serverless Postgres always does.",
      example: true,
    }),
    cluster_id: clusterIdField(),
  })
  .meta({ id: "NewDatabaseCluster", override: { oneOf: databaseTypes.map(variantOf) } });

export type NewDatabaseCluster = z.output<typeof newDatabaseCluster>;
/** The body as clients send it, without the defaults. */
export type NewDatabaseClusterBody = z.input<typeof newDatabaseCluster>;

/** The body of `PATCH /databases/clusters/:id`. */
export const databaseClusterChange = z
  .object({
    config: z
      .record(z.string(), z.unknown())
      .transform(changedMembers)
      .meta({
        description:
          "The members to change; those that are left out stay as they are. Null takes away a value that can be absent.",
        example: { cu_max: 2 },
        override: { anyOf: databaseTypes.map(changeSchemaOf).filter(isFirstOfTitle) },
      }),
  })
  .meta({ id: "DatabaseClusterChange" });

export type DatabaseClusterChange = z.output<typeof databaseClusterChange>;

/** Two types share one shape of config. */
function isFirstOfTitle({ title }: { title: string }, index: number, all: { title: string }[]): boolean {
  return all.findIndex((other) => other.title === title) === index;
}

/** Whether clusters of this type always start with a database. */
function cannotBeEmpty(databaseType: DatabaseType): boolean {
  return databaseType === "hosted_serverless_postgres";
}

/** The errors between fields, derived from the fields that are valid by themselves. */
export function checkNewDatabaseCluster(valid: Partial<NewDatabaseCluster>): FieldErrors {
  const errors = clusterIdFaults(valid.cluster_id);
  if (valid.type === undefined) return errors;
  if (valid.create_default_database === false && cannotBeEmpty(valid.type)) {
    errors.create_default_database = [`A cluster of the type ${valid.type} always has a default database.`];
  }
  return { ...errors, ...configVariants[valid.type].check(valid.config ?? {}) };
}

const config = z
  .union([
    serverless.schema.meta({ title: serverless.title }),
    platformMysql.schema.meta({ title: platformMysql.title }),
    managedPostgres.schema.meta({ title: managedPostgres.title }),
  ])
  .meta({
    id: "DatabaseConfig",
    description: "The values in force; which members there are depends on the type.",
    // No value has all members of two types, a case that `anyOf` would allow.
    override: ({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }) => {
      jsonSchema.oneOf = jsonSchema.anyOf ?? [];
      delete jsonSchema.anyOf;
    },
  });

const connection = z
  .object({
    hostname: z.string().meta({ description: "The name or address to connect to.", example: "127.0.0.1" }),
    port: z.int().min(1).max(65_535).meta({ description: "The cluster's for life.", example: 20_001 }),
    protocol: z
      .enum(["mysql", "postgres"])
      .meta({ description: "The scheme of a connection URL.", example: "postgres" }),
    driver: z
      .enum(["mysql", "pgsql"])
      .meta({ description: "The name under which database libraries know the protocol.", example: "pgsql" }),
    ...credentialFields("databases", "DatabaseCredentials"),
  })
  .meta({ id: "DatabaseConnection", description: "How to reach the cluster." });

const attributes = z
  .object({
    name: z.string().meta({ example: "orders" }),
    type,
    status: z.enum(databaseClusterStatuses).meta({
      id: "DatabaseClusterStatus",
      description: "`available` means that a login with the cluster's own credentials worked.",
      example: "available",
    }),
    region,
    created_at: createdAt,
    config,
    supports_pitr: z.enum(["true", "false"]).meta({
      description: "Whether each instant since `earliest_restore_time` can be restored, as a string.",
      example: "false",
    }),
    earliest_restore_time: z
      .string()
      .meta({ description: "The first moment that can be restored; empty when none can.", example: "" }),
    connection,
  })
  .meta({ id: "DatabaseAttributes" });

const limits = z
  .object({
    memory_bytes: z.int().min(0),
    cpus: z.number().min(0).nullable().meta({ description: "Null where the processor is not limited." }),
    max_connections: z.int().min(0).nullable(),
    max_processes: maxProcessesField,
    enforced_by: enforcedByField,
  })
  .nullable()
  .meta({
    description: "The limits in force; on a small machine they are below those of the config.",
    example: {
      memory_bytes: 1_073_741_824,
      cpus: 0.25,
      max_connections: 104,
      max_processes: 200,
      enforced_by: "cgroup-v2",
    },
  });

const meta = z
  .object({
    ...metaFields("cluster", { name: "postgres", version: "18.1" }),
    sleep: sleepField,
    former_credentials: formerPasswordField,
    backup: backupField,
    restore: restoreField,
    origin: originField,
    refresh: refreshField,
    replicas: replicasField,
    version: z
      .string()
      .meta({ description: "The engine's major version, which the cluster keeps for life.", example: "18" }),
    limits,
  })
  .meta({ id: "DatabaseMeta", description: "Facts beyond the attributes." });

/** A cluster as answers show it. */
export const databaseClusterResource = z
  .object({
    id: z.string().meta({ example: "db-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("databases"),
    attributes,
    relationships: z.object({
      databases: z
        .object({ data: z.array(resourceIdentifier("databaseSchemas")) })
        .meta({ description: "The databases in the cluster." }),
    }),
    meta,
  })
  .meta({ id: "Database" });

export type DatabaseClusterResource = z.output<typeof databaseClusterResource>;

const configMember = z
  .object({
    name: z.string().meta({ example: "cu_min" }),
    type: z.string().meta({ example: "number" }),
    required: z.boolean(),
    nullable: z.boolean(),
    description: z.string(),
    default: z.unknown().meta({ description: "The value when left out.", example: 0.25 }),
    example: z.unknown().meta({ example: 0.25 }),
    min: z.number().optional(),
    max: z.number().optional(),
    enum: z.array(z.union([z.string(), z.number()])).optional(),
  })
  .meta({ id: "DatabaseConfigMember" });

const extension = z.object({ name: z.string(), version: z.string() });

/** The available types of database clusters, as `GET /databases/types` lists them. */
export const databaseTypeList = z.object({
  data: z.array(
    z
      .object({
        type,
        label: z.string().meta({ example: "Serverless Postgres" }),
        regions: z.array(region),
        config_schema: z.array(configMember),
        versions: z.array(z.string()).meta({
          description: "Installed versions, the default first.",
          example: ["18", "17"],
        }),
        extensions: z.record(z.string(), z.array(extension)).meta({
          description:
            "Extensions that the cluster's user can create with `create extension`, by version; empty for types without extensions.",
          example: { "18": [{ name: "pg_trgm", version: "1.6" }] },
        }),
      })
      .meta({ id: "DatabaseTypeDescription" }),
  ),
});

export type DatabaseTypeList = z.output<typeof databaseTypeList>;
