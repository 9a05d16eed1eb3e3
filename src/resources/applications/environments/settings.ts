// The settings of an environment: their rules, and their values in a new environment.
import { z } from "zod";
import {
  botCategories,
  MAX_HSTS_SECONDS,
  rateLimitLevels,
  rateLimits,
} from "../../../contracts/edge-route.ts";
import { longEnumerations } from "../../../api/operation/validation.ts";
import { servingSettings, type ServingSettings } from "./serving.ts";
import { variableKey } from "./variable-schema.ts";

export const colors = ["blue", "green", "orange", "purple", "red", "yellow", "cyan", "gray"] as const;
const nodeVersions = ["20", "22", "24"] as const;
export const phpVersions = ["8.2", "8.3", "8.4", "8.5"] as const;

const MAX_COMMAND = 2_000;
const MAX_BUILD_VARIABLES = 100;

/** Why an environment with a wake interval has to sleep. */
export const NOT_WOKEN = "An environment that does not hibernate is not woken.";

/** The minutes without a request after which an environment may sleep. */
export const sleepMinutes = z.int().min(1).max(60);

function command(description: string, example: string) {
  return z
    .string()
    .max(MAX_COMMAND)
    .nullable()
    .meta({
      description: `${description} Each line is a command; null leaves it to the plan.`,
      example,
    });
}

function flag(description: string, example = false) {
  return z.boolean().meta({ description, example });
}

const color = z.enum(colors).meta({ id: "EnvironmentColor", description: "Of its mark in the console." });
const botCategory = z.enum(botCategories).meta({ id: "BotControlCategory", example: "ai_crawler" });
longEnumerations.add(botCategory, { command: "pilvi environments update --help" });

const hsts = z.object({
  max_age: z
    .int()
    .min(0)
    .max(MAX_HSTS_SECONDS)
    .nullable()
    .meta({ description: "Seconds; null sends no header.", example: null }),
  include_subdomains: flag("Whether it holds for subdomains as well."),
  preload: flag("Whether browsers may list it."),
});

/** Some clients write `8.2:1`, with the number of an image after the version. */
function withoutImage(version: unknown): unknown {
  return typeof version === "string" ? version.replace(/:\d$/, "") : version;
}

/** The settings that a customer changes with `PATCH`, flat as requests have them. */
export const environmentSettings = z.object({
  color,
  build_command: command("Makes the release, once for each deployment.", "npm run build"),
  deploy_command: command("Runs in the new release before it gets requests.", "npm run migrate"),
  start_command: command("Starts the application.", "node server.js"),
  ...servingSettings,
  node_version: z
    .enum(nodeVersions)
    .nullable()
    .meta({ description: "Null leaves it to the plan.", example: "24" }),
  php_version: z
    .preprocess(withoutImage, z.enum(phpVersions).nullable())
    .meta({ description: "Null leaves it to the plan.", example: "8.2" }),
  build_variables: z
    .array(variableKey)
    .max(MAX_BUILD_VARIABLES)
    .meta({
      description:
        "The names of variables that builds get, such as the token of a private registry. Besides them, builds get the variables that frameworks put into pages. Their values are left out of the output.",
      example: ["NPM_TOKEN"],
    }),
  uses_server_accelerator: flag("Whether one PHP process answers many requests. Stored, without effect yet."),
  uses_hibernation: flag("Whether the environment sleeps when nobody uses it."),
  sleep_timeout: sleepMinutes.meta({
    description: "Minutes without a request after which it sleeps.",
    example: 5,
  }),
  hibernation_wake_up_interval: z.int().min(1).max(10_080).nullable().meta({
    description: "Minutes of sleep after which the environment is woken without a request; null is never.",
    example: null,
  }),
  timeout: z.int().min(5).max(60).meta({ description: "Seconds a request may take.", example: 30 }),
  shutdown_timeout: z
    .int()
    .min(1)
    .max(600)
    .meta({ description: "Seconds that the former release has for its open requests.", example: 10 }),
  uses_push_to_deploy: flag("Whether a push to its branch begins a deployment.", true),
  uses_deploy_hook: flag("Whether an address without credentials begins a deployment."),
  uses_vanity_domain: flag("Whether it has an address below the domain of applications.", true),
  cache_strategy: z.enum(["default", "bypass"]).meta({
    description: "Whether the edge keeps answers that the application marks for shared caches.",
    example: "default",
  }),
  uses_purge_edge_cache_on_deploy: flag(
    "Whether each deployment, and each other change of what runs, purges the edge cache. A change of this setting purges it as well.",
    true,
  ),
  response_headers_frame: z
    .enum(["deny", "sameorigin", "all"])
    .meta({ description: "Which pages may show it in a frame.", example: "deny" }),
  response_headers_content_type: z
    .enum(["nosniff", "none"])
    .meta({ description: "Whether browsers may not guess the type of an answer.", example: "nosniff" }),
  response_headers_robots_tag: z
    .enum(["index, follow", "noindex, nofollow"])
    .meta({ description: "Whether search engines may list it.", example: "index, follow" }),
  response_headers_hsts: hsts,
  firewall_bot_categories: z
    .array(botCategory)
    .max(botCategories.length)
    .meta({ description: "Bots whose requests are refused, by what they call themselves.", example: [] }),
  firewall_rate_limit_level: z.enum(rateLimitLevels).nullable().meta({
    description: "What becomes of a client with more requests than the limit; null is no limit.",
    example: null,
  }),
  firewall_rate_limit_per_minute: z
    .literal([...rateLimits])
    .nullable()
    .meta({ description: "The limit of a client; null is 300.", example: null }),
  firewall_block_path: flag("Whether the paths of common scanners are refused.", true),
  firewall_under_attack_mode: flag("Whether each client has to pass a challenge of its browser first."),
});

/** The settings of an environment as its row has them. */
export interface EnvironmentSettings
  extends
    Omit<
      z.output<typeof environmentSettings>,
      | keyof ServingSettings
      | "build_variables"
      | "firewall_under_attack_mode"
      | "uses_purge_edge_cache_on_deploy"
    >,
    ServingSettings {
  /** An environment whose settings lack the list has no such variables. */
  build_variables?: string[];
  /** Absent is true: an environment has it from its first change on. */
  uses_purge_edge_cache_on_deploy?: boolean;
  /** When under-attack mode was switched on, UTC in ISO 8601; absent or null while it is off. */
  under_attack_mode_started_at?: string | null;
  /** The latest purge of the cache of the edge, as a random text; absent before the first. */
  edge_cache_purge?: string;
}

/** The name of the environment that a new application has. */
export const FIRST_ENVIRONMENT = "production";

/** The settings of a new environment. */
export const DEFAULT_SETTINGS: EnvironmentSettings = {
  color: "blue",
  build_command: null,
  deploy_command: null,
  start_command: null,
  node_version: null,
  php_version: null,
  uses_server_accelerator: false,
  uses_hibernation: true,
  sleep_timeout: 5,
  hibernation_wake_up_interval: null,
  timeout: 30,
  shutdown_timeout: 10,
  uses_push_to_deploy: true,
  uses_deploy_hook: false,
  uses_vanity_domain: true,
  cache_strategy: "default",
  response_headers_frame: "deny",
  response_headers_content_type: "nosniff",
  response_headers_robots_tag: "index, follow",
  response_headers_hsts: { max_age: null, include_subdomains: false, preload: false },
  firewall_bot_categories: [],
  firewall_rate_limit_level: null,
  firewall_rate_limit_per_minute: null,
  firewall_block_path: true,
};
