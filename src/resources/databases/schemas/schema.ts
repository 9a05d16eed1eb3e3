// The shapes of requests for a database, and of a database in an answer. The API calls a database a schema.
import { z } from "zod";
import { resourceIdentifier } from "../../../api/jsonapi/jsonapi.ts";
import { createdAt, nameField } from "../../shared/fields.ts";

export const databaseStatuses = ["creating", "available", "deleting", "deleted"] as const;

export type DatabaseStatus = (typeof databaseStatuses)[number];

/** Databases that come with the engines, or that Pilvi keeps for itself. */
const RESERVED = [
  "postgres",
  "template0",
  "template1",
  "mysql",
  "information_schema",
  "performance_schema",
  "sys",
] as const;

/** The most databases that a cluster has rows of: every answer about the cluster and its spec have all of them. */
export const MAX_DATABASES = 1_000;

const RESERVED_PATTERN = `^(?!(?:${RESERVED.join("|")})$|pilvi)`;

/** The body of `POST /databases/clusters/:id/databases`. */
export const newDatabase = z
  .object({
    name: nameField(
      "Unique in the cluster. Names that engines use themselves, and those that begin with `pilvi`, are reserved.",
      "reports",
    ).regex(new RegExp(RESERVED_PATTERN), "is reserved"),
  })
  .meta({ id: "NewDatabaseSchema" });

export type NewDatabase = z.output<typeof newDatabase>;

/** A database as answers show it. */
export const databaseResource = z
  .object({
    id: z.string().meta({ example: "schema-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("databaseSchemas"),
    attributes: z
      .object({
        name: z.string().meta({ example: "main" }),
        status: z.enum(databaseStatuses).meta({
          id: "DatabaseSchemaStatus",
          description:
            "`available` means that the database is there; its cluster's `meta` says why a database takes long.",
          example: "available",
        }),
        created_at: createdAt,
      })
      .meta({ id: "DatabaseSchemaAttributes" }),
    relationships: z.object({
      database: z
        .object({ data: resourceIdentifier("databases") })
        .meta({ description: "The cluster of the database." }),
      environments: z
        .object({ data: z.array(resourceIdentifier("environments")) })
        .meta({ description: "Environments that use the database." }),
    }),
  })
  .meta({ id: "DatabaseSchema" });

export type DatabaseResource = z.output<typeof databaseResource>;
