// The shapes of requests for an environment, and of an environment in an answer.
import { z } from "zod";
import { resourceIdentifier } from "../../../api/jsonapi/jsonapi.ts";
import type { Isolation } from "../../../contracts/application.ts";
import { botCategories } from "../../../contracts/edge-route.ts";
import { createdAt } from "../../shared/fields.ts";
import { colors, environmentSettings, phpVersions } from "./settings.ts";
import { servingSettings } from "./serving.ts";
import { environmentVariable } from "./variable-schema.ts";

export const environmentStatuses = ["deploying", "running", "hibernating", "stopped", "deleting"] as const;

const MAX_PURGED_PATH = 2_048;

export type EnvironmentStatus = (typeof environmentStatuses)[number];

const name = z
  .string()
  .min(1)
  .max(40)
  .regex(/^[A-Za-z0-9 _-]+$/, "may have letters, digits, spaces, underscores and hyphens only")
  .meta({ description: "Unique in the application.", example: "production" });

const slug = z
  .string()
  .min(1)
  .max(40)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "may have lowercase letters, digits and single hyphens only")
  .meta({ description: "A name for addresses, unique in the application.", example: "production" });

/** Names that Git allows for a branch, without those that begin with a hyphen, which programs take for options. */
const branch = z
  .string()
  .min(1)
  .max(200)
  .regex(
    /^(?![-/.])(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)|\/\.))[^\s~^:?*[\\\p{Cc}]+(?<![/.])$/u,
    "is not the name of a branch",
  )
  .meta({ description: "The branch whose commits are deployed.", example: "main" });

const attached = (what: string, example: string) =>
  z
    .union([z.string().max(64), z.null()])
    .optional()
    .meta({
      description: `The ${what} that the environment uses; null or an empty text detaches it, and a member that is left out changes nothing.`,
      example,
    });

/** The body of `POST /applications/:id/environments`. */
export const newEnvironment = z
  .object({ name, branch, ...z.object(servingSettings).partial().shape })
  .meta({ id: "NewEnvironment" });

export type NewEnvironment = z.output<typeof newEnvironment>;

/** The body of `PATCH /environments/:id`. */
export const environmentChange = environmentSettings
  .partial()
  .extend({
    name: name.optional(),
    slug: slug.optional(),
    branch: branch.optional(),
    database_schema_id: attached("database", "schema-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f"),
    cache_id: attached("cache", "cache-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f"),
    websocket_application_id: attached("WebSocket application", "wsa-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f"),
  })
  .meta({ id: "EnvironmentChange" });

/** The members of an environment to change; the rest stays as it is. */
export type EnvironmentChange = z.output<typeof environmentChange>;

/** The body of `POST /environments/:id/purge-edge-cache`. */
export const edgeCachePurge = z
  .object({
    path: z.string().max(MAX_PURGED_PATH).nullable().optional().meta({
      description: "The path that has changed. The edge forgets the whole environment, whatever is named.",
      example: "/about",
    }),
    prefix: z.string().max(MAX_PURGED_PATH).nullable().optional().meta({
      description: "The beginning of the paths that have changed.",
      example: "/blog/",
    }),
  })
  .refine(({ path, prefix }) => (path ?? null) === null || (prefix ?? null) === null, {
    path: ["prefix"],
    message: "is not allowed beside path",
  })
  .meta({ id: "EdgeCachePurge" });

export type EdgeCachePurge = z.output<typeof edgeCachePurge>;

/** The body of `POST /environments/:id/start`. */
export const environmentStart = z
  .object({
    redeploy: z.boolean().nullable().optional().meta({
      description:
        "Deploys what the latest successful deployment had, or the latest where none was, instead of the newest commit.",
      example: true,
    }),
  })
  .meta({ id: "EnvironmentStart" });

export type EnvironmentStart = z.output<typeof environmentStart>;

const networkSettings = z
  .object({
    cache: z.object({ strategy: z.string() }),
    response_headers: z.object({
      frame: z.string(),
      content_type: z.string(),
      robots_tag: z.string(),
      hsts: z.object({
        max_age: z.int().nullable(),
        include_subdomains: z.boolean(),
        preload: z.boolean(),
      }),
    }),
    firewall: z.object({
      bot_categories: z.array(z.enum(botCategories)),
      rate_limit: z.object({
        level: z.string().nullable(),
        per_minute: z.int().nullable(),
        "4xx": z.boolean(),
        "429": z.boolean(),
      }),
      under_attack_mode_started_at: z.string().nullable(),
      block_path: z.boolean(),
    }),
    content_converter: z.boolean(),
  })
  .meta({
    id: "NetworkSettings",
    description:
      "How the edge treats requests and answers. A change is in force within a second, without a deployment.",
  });

const isolations = ["bubblewrap", "landlock", "none"] as const satisfies Isolation[];

const limits = z.object({
  memory_bytes: z.int(),
  max_processes: z.int().nullable(),
  enforced_by: z.string().meta({ example: "cgroup-v1" }),
});

const variables = z.object({ environment_variables: z.array(environmentVariable) });

const attributes = z
  .object({
    name: z.string().meta({ example: "production" }),
    slug: z.string().meta({ example: "production" }),
    status: z.enum(environmentStatuses).meta({
      id: "EnvironmentStatus",
      description:
        "A `running` environment serves its current release, or waits for its first deployment while `currentDeployment` is null. It stays `running` while a process is started anew after a crash, and `meta.last_error` says so. While it is `hibernating`, no process runs, and the next request wakes it.",
      example: "running",
    }),
    color: z.enum(colors),
    created_from_automation: z.boolean().meta({ example: false }),
    vanity_domain: z.string().meta({ example: "web-shop-production-8k2fqz.localhost" }),
    framework: z.string().nullable().meta({ example: "express" }),
    language: z.string().nullable().meta({ example: "javascript" }),
    php_major_version: z.enum(phpVersions).nullable().meta({ example: null }),
    serving: z
      .object({ mode: z.string(), root: z.string().nullable() })
      .nullable()
      .meta({
        description:
          "As the settings have it, or else the current release; null before the first deployment.",
        example: { mode: "process", root: null },
      }),
    build_command: z.string().nullable(),
    deploy_command: z.string().nullable(),
    start_command: z.string().nullable(),
    node_version: z.string().nullable().meta({ example: "24" }),
    uses_server_accelerator: z.boolean(),
    uses_hibernation: z.boolean(),
    hibernation_wake_up_interval: z.int().nullable(),
    timeout: z.int(),
    shutdown_timeout: z.int(),
    uses_push_to_deploy: z.boolean(),
    uses_deploy_hook: z.boolean(),
    mailer: z.object({ from_address: z.string(), from_name: z.string(), key_name: z.string() }).nullable(),
    network_settings: networkSettings,
    created_at: createdAt,
    "": z.union([variables, z.array(z.unknown()).max(0)]).meta({
      description:
        "The environment variables, or an empty array for a token without the ability `applications:credentials`. The member's name is empty.",
    }),
    environment_variables: z.array(environmentVariable).optional().meta({
      description: "The same as in the member with the empty name.",
    }),
  })
  .meta({ id: "EnvironmentAttributes" });

const one = (type: string) => z.object({ data: resourceIdentifier(type).nullable() });
const many = (type: string) => z.object({ data: z.array(resourceIdentifier(type)) });

/** An environment as answers show it. */
export const environmentResource = z
  .object({
    id: z.string().meta({ example: "env-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f" }),
    type: z.literal("environments"),
    links: z.object({ self: z.object({ href: z.string() }) }),
    attributes,
    relationships: z.object({
      application: z.object({ data: resourceIdentifier("applications") }),
      branch: one("branches"),
      deployments: many("deployments").meta({ description: "The ten newest, the newest first." }),
      currentDeployment: one("deployments"),
      domains: many("domains"),
      primaryDomain: one("domains"),
      instances: many("instances"),
      database: one("databaseSchemas"),
      cache: one("caches"),
      buckets: many("filesystems"),
      websocketApplication: one("websocketApplications"),
      secrets: many("secrets"),
    }),
    meta: z
      .object({
        url: z.string().meta({
          description: "The address at which the edge answers for it.",
          example: "http://web-shop-production-8k2fqz.localhost:8080",
        }),
        last_error: z.string().nullable().meta({
          description: "Why the latest change is not in force; null when all is well.",
          example: null,
        }),
        deploy_hook_url: z.string().nullable().optional().meta({
          description:
            "The path that begins a deployment for each client that knows it; null without a hook, and left out for a token without the ability `applications:credentials`.",
          example: "/api/deploy-hooks/q3Zr8k1Yw0sTnB5xVd7mLh2cPj9fGa4eUi6oKtRb",
        }),
        variables_of_builds: z
          .array(z.string())
          .optional()
          .meta({
            description:
              "The names of all variables that builds see, so that another value needs a deployment; left out for a token without the ability `applications:credentials`.",
            example: ["VITE_TITLE"],
          }),
        limits: limits.nullable().meta({ description: "What is in force; null while nothing runs." }),
        isolation: z.enum(isolations).nullable().meta({
          description:
            "What separates its processes from the machine, beside users and cgroups: namespaces with a view of their own of all files (`bubblewrap`), rules of the kernel for paths (`landlock`), or nothing. Null while nothing runs.",
          example: "bubblewrap",
        }),
        build_variables: z.array(z.string()).meta({
          description:
            "The names of the variables that builds get besides those that frameworks put into pages.",
          example: ["NPM_TOKEN"],
        }),
        sleep_timeout: z.int().meta({
          description: "Minutes without a request after which it sleeps, if it may.",
          example: 5,
        }),
        ...servingSettings,
        uses_vanity_domain: z.boolean().meta({ description: "Whether its address is served." }),
        uses_purge_edge_cache_on_deploy: z
          .boolean()
          .meta({ description: "Whether each deployment purges the edge cache.", example: true }),
      })
      .meta({ id: "EnvironmentMeta", description: "Facts beyond the attributes." }),
  })
  .meta({ id: "Environment" });

export type EnvironmentResource = z.output<typeof environmentResource>;
