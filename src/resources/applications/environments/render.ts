// Renders an environment for the token of the request.
import { API_ROOT } from "../../../api/operation/address.ts";
import { can, type Principal } from "../../../api/auth/auth.ts";
import type { KindContext } from "../../kind.ts";
import { domainOf, urlOf } from "./address.ts";
import { isOfBuilds } from "./all-variables.ts";
import type { EnvironmentResource } from "./schema.ts";
import { shownServing } from "./serving.ts";
import type { EnvironmentSettings } from "./settings.ts";
import type { EnvironmentRow } from "./store.ts";
import { hookPath } from "../sources/hook-secret.ts";
import { purgesOnDeploy } from "./edge-cache.ts";
import type { EnvironmentVariable } from "./variable-schema.ts";
import { openVariables } from "./variables.ts";

/** The resource object; it has environment variables only for a token that may see them. */
export function renderEnvironment(
  environment: EnvironmentRow,
  context: KindContext,
  principal: Principal,
): EnvironmentResource {
  const { id, settings, plan, sealedVariables } = environment;
  const isShown = can(principal, "applications:credentials");
  const variables = isShown ? openVariables(context.vault, id, sealedVariables) : null;
  return {
    id,
    type: "environments",
    links: { self: { href: `${API_ROOT}/environments/${id}` } },
    attributes: {
      name: environment.name,
      slug: environment.slug,
      status: statusOf(environment, context),
      color: settings.color,
      created_from_automation: false,
      vanity_domain: domainOf(environment, context.edge),
      framework: plan?.framework ?? null,
      language: plan?.language ?? null,
      serving: shownServing(plan, settings),
      php_major_version: settings.php_version,
      ...plainSettings(settings),
      mailer: null,
      network_settings: networkSettings(settings),
      created_at: environment.createdAt,
      ...variablesOf(variables),
    },
    relationships: relationshipsOf(environment),
    meta: {
      ...metaOf(environment, context, principal),
      ...hookOf(environment, context, principal),
      ...variablesOfBuilds(environment, variables),
    },
  };
}

/** An environment whose process sleeps hibernates; all else is known from its row. */
export function statusOf(
  { status, hostId, servingId }: Pick<EnvironmentRow, "status" | "hostId" | "servingId">,
  { hosts }: Pick<KindContext, "hosts">,
): EnvironmentResource["attributes"]["status"] {
  if (status !== "running" || servingId === null) return status;
  return hosts.of(hostId).observedStates.of(servingId)?.state === "asleep" ? "hibernating" : "running";
}

function metaOf(
  environment: EnvironmentRow,
  context: KindContext,
  principal: Principal,
): EnvironmentResource["meta"] {
  const { hostId, servingId, lastError, workError, settings } = environment;
  const seen = servingId === null ? undefined : context.hosts.of(hostId).observedStates.of(servingId);
  const limits = seen?.limits ?? null;
  return {
    url: urlOf(environment, context.edge),
    // The last words of a process may quote secrets, as its log may, and so may a host's reason.
    last_error:
      lastError ?? (can(principal, "applications:credentials") ? (seen?.lastError ?? workError) : null),
    limits: limits && {
      memory_bytes: limits.memoryBytes,
      max_processes: limits.maxProcesses ?? null,
      enforced_by: limits.enforcedBy,
    },
    isolation: seen?.isolation ?? null,
    build_variables: settings.build_variables ?? [],
    sleep_timeout: settings.sleep_timeout,
    health_path: settings.health_path ?? null,
    serving_mode: settings.serving_mode ?? null,
    serving_root: settings.serving_root ?? null,
    serving_fallback: settings.serving_fallback ?? null,
    uses_vanity_domain: settings.uses_vanity_domain,
    uses_purge_edge_cache_on_deploy: purgesOnDeploy(settings),
  };
}

/** A hook's address is a credential. */
function hookOf(
  environment: EnvironmentRow,
  { vault }: KindContext,
  principal: Principal,
): Pick<EnvironmentResource["meta"], "deploy_hook_url"> {
  if (!can(principal, "applications:credentials")) return {};
  return { deploy_hook_url: hookPath(vault, environment) };
}

function plainSettings(settings: EnvironmentSettings) {
  const { build_command, deploy_command, start_command, node_version, uses_server_accelerator } = settings;
  const { uses_hibernation, hibernation_wake_up_interval, timeout, shutdown_timeout } = settings;
  const { uses_push_to_deploy, uses_deploy_hook } = settings;
  return {
    build_command,
    deploy_command,
    start_command,
    node_version,
    uses_server_accelerator,
    uses_hibernation,
    hibernation_wake_up_interval,
    timeout,
    shutdown_timeout,
    uses_push_to_deploy,
    uses_deploy_hook,
  };
}

function networkSettings(
  settings: EnvironmentSettings,
): EnvironmentResource["attributes"]["network_settings"] {
  return {
    cache: { strategy: settings.cache_strategy },
    response_headers: {
      frame: settings.response_headers_frame,
      content_type: settings.response_headers_content_type,
      robots_tag: settings.response_headers_robots_tag,
      hsts: settings.response_headers_hsts,
    },
    firewall: {
      bot_categories: settings.firewall_bot_categories,
      rate_limit: {
        level: settings.firewall_rate_limit_level,
        per_minute: settings.firewall_rate_limit_per_minute,
        "4xx": false,
        "429": false,
      },
      under_attack_mode_started_at: settings.under_attack_mode_started_at ?? null,
      block_path: settings.firewall_block_path,
    },
    content_converter: false,
  };
}

/** @param shown null for a token that may not see them. */
function variablesOf(shown: EnvironmentVariable[] | null) {
  if (shown === null) return { "": [] };
  const variables = { environment_variables: shown };
  return { "": variables, ...variables };
}

/** Names of variables are shown where their values are. */
function variablesOfBuilds(
  environment: EnvironmentRow,
  shown: EnvironmentVariable[] | null,
): Pick<EnvironmentResource["meta"], "variables_of_builds"> {
  if (shown === null) return {};
  const names = shown.map(({ key }) => key);
  return { variables_of_builds: names.filter((name) => isOfBuilds(name, environment, environment.plan)) };
}

function relationshipsOf(environment: EnvironmentRow): EnvironmentResource["relationships"] {
  return {
    application: { data: { id: environment.applicationId, type: "applications" } },
    branch: one("branches", environment.branch),
    deployments: { data: environment.deploymentIds.map((id) => ({ id, type: "deployments" })) },
    currentDeployment: one("deployments", environment.currentDeploymentId),
    domains: { data: [] },
    primaryDomain: { data: null },
    instances: { data: environment.processGroupIds.map((id) => ({ id, type: "instances" })) },
    database: one("databaseSchemas", environment.databaseSchemaId),
    cache: one("caches", environment.cacheId),
    buckets: { data: [] },
    websocketApplication: one("websocketApplications", environment.websocketApplicationId),
    secrets: { data: [] },
  };
}

function one<Type extends string>(
  type: Type,
  id: string | null,
): { data: { id: string; type: Type } | null } {
  return { data: id === null ? null : { id, type } };
}
