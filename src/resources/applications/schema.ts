// The shapes of requests for an application, and of an application in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../api/jsonapi/jsonapi.ts";
import { clusterIdField, createdAt } from "../shared/fields.ts";
import { region } from "../shared/regions.ts";

// Clients of the API import only this file of the slice.
export type * from "./commands/schema.ts";
export type * from "./background-processes/schema.ts";
export type * from "./deployments/schema.ts";
export type * from "./environments/schema.ts";
export type * from "./environments/variable-schema.ts";
export type * from "./instances/schema.ts";
export type * from "./sources/plan-schema.ts";

/** An application that is being deleted stays until nothing of its environments is left. */
export const applicationStatuses = ["available", "deleting"] as const;

export type ApplicationStatus = (typeof applicationStatuses)[number];

const name = z
  .string()
  .min(3)
  .max(40)
  .regex(
    /^[\p{Script=Latin}0-9 _.',&()!#+:@-]+$/u,
    "may have Latin letters, digits, spaces and _ . ' , & ( ) ! # + : @ - only",
  )
  .meta({ description: "Need not be unique.", example: "Web shop" });

const slug = z
  .string()
  .min(3)
  .max(40)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "may have lowercase letters, digits and single hyphens only")
  .meta({ description: "A name for addresses, unique in the organization.", example: "web-shop" });

const repository = z
  .string()
  .max(2_000)
  .regex(
    /^(?:https?:\/\/[^\s@]+|ssh:\/\/[^\s]+|[\w.-]+@[\w.-]+:[^\s]+)$/,
    "is not the address of a repository: https://…, http://…, ssh://… or user@host:path",
  )
  .meta({
    description:
      "The address of a Git repository from which commits are fetched. Without it, commits are pushed or uploaded.",
    example: "https://git.example.com/shop/web.git",
  });

const repositoryUsername = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[^\p{Cc}:]+$/u, "may have neither colons nor control characters")
  .meta({
    description:
      "The user at a repository behind HTTPS. `git` when left out, which suits hosts that ask for a token alone. Null takes the password away too.",
    example: "ada",
  });

const repositoryPassword = z
  .string()
  .min(1)
  .max(2_000)
  .regex(/^\P{Cc}+$/u, "may have no control characters")
  .meta({
    format: "password",
    writeOnly: true,
    description:
      "The password, or a token that may read, for a repository behind HTTPS. It is stored encrypted and never shown. Another `repository` takes it away.",
    example: "a-token-that-may-read",
  });

const rootDirectory = z
  .string()
  .max(255)
  .regex(/^[a-zA-Z0-9][-a-zA-Z0-9_.]*(?:\/[a-zA-Z0-9][-a-zA-Z0-9_.]*)*$/, "is not a relative path")
  .meta({ description: "The folder of the application in its source.", example: "apps/web" });

const slackChannel = z
  .string()
  .max(80)
  .meta({ description: "Kept as it is; Pilvi sends nothing there.", example: "#deployments" });

/** The body of `POST /applications`. */
export const newApplication = z
  .object({
    name,
    region,
    repository: repository.optional(),
    repository_username: repositoryUsername.optional(),
    repository_password: repositoryPassword.optional(),
    root_directory: rootDirectory.nullable().optional(),
    cluster_id: clusterIdField(),
  })
  .meta({ id: "NewApplication" });

export type NewApplication = z.output<typeof newApplication>;
/** The same as a client sends it. */
export type NewApplicationBody = z.input<typeof newApplication>;

/** The body of `PATCH /applications/:id`. */
export const applicationChange = z
  .object({
    name: name.optional(),
    slug: slug.optional(),
    repository: repository.nullable().optional(),
    repository_username: repositoryUsername.nullable().optional(),
    repository_password: repositoryPassword.nullable().optional(),
    root_directory: rootDirectory.nullable().optional(),
    slack_channel: slackChannel.nullable().optional(),
    default_environment_id: z
      .string()
      .max(64)
      .optional()
      .meta({ description: "An environment of the application.", example: "env-0199f0a2-6c3e-7d5b" }),
  })
  .meta({ id: "ApplicationChange" });

/** The members of an application to change; the rest stays as it is. */
export type ApplicationChange = z.output<typeof applicationChange>;

const attributes = z
  .object({
    name: z.string().meta({ example: "Web shop" }),
    slug: z.string().meta({ example: "web-shop" }),
    region,
    slack_channel: z.string().nullable().meta({ example: null }),
    avatar_url: z.null().meta({ description: "Applications have no pictures." }),
    created_at: createdAt,
    repository: z
      .object({
        full_name: z.string().meta({ example: "shop/web" }),
        default_branch: z.string().meta({ example: "main" }),
      })
      .nullable()
      .meta({ description: "Null where commits are pushed or uploaded alone." }),
  })
  .meta({ id: "ApplicationAttributes" });

/** An application as answers show it. */
export const applicationResource = z
  .object({
    id: z.string().meta({ example: "app-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("applications"),
    attributes,
    relationships: z.object({
      organization: z.object({ data: resourceIdentifier("organizations") }),
      environments: z.object({ data: z.array(resourceIdentifier("environments")) }),
      defaultEnvironment: z.object({ data: resourceIdentifier("environments").nullable() }),
    }),
    meta: z
      .object({
        status: z.enum(applicationStatuses).meta({
          id: "ApplicationStatus",
          description: "`deleting` until nothing of its environments is left.",
          example: "available",
        }),
        repository_url: z.string().nullable().meta({ example: "https://git.example.com/shop/web.git" }),
        root_directory: z.string().nullable().meta({ example: null }),
        repository_username: z.string().nullable().meta({
          description: "The user with whom commits are fetched over HTTPS; null without a password.",
          example: null,
        }),
        deploy_key: z.string().nullable().meta({
          description:
            "The public key to add at the host of a repository behind SSH, for reading. Null for other repositories.",
          example: null,
        }),
      })
      .meta({ id: "ApplicationMeta", description: "Facts beyond the attributes." }),
  })
  .meta({ id: "Application" });

export type ApplicationResource = z.output<typeof applicationResource>;

export type {
  EnvironmentLogEntry,
  EnvironmentLogFilterType,
  EnvironmentLogsDocument,
} from "./logs/schema.ts";
export type { EnvironmentMetrics } from "./metrics/schema.ts";
