// For tests of the commands about applications: resources as the API shows them, and a linked folder.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  ApplicationResource,
  BackgroundProcessResource,
  CommandResource,
  DeploymentLog,
  DeploymentResource,
  EnvironmentResource,
  InstanceResource,
} from "../../sdk/index.ts";
import { writeLink } from "./link.ts";

const AT = "2026-03-15T08:18:53.000000Z";

export const APPLICATION_ID = "app-0199f0a2-6c3e-7d5b-9a41-000000000001";
export const ENVIRONMENT_ID = "env-0199f0a2-6c3e-7d5b-9a41-000000000001";
export const URL_OF_IT = "http://web-shop-production-8k2fqz.localhost:8080";

export const environmentPath = `/environments/${ENVIRONMENT_ID}`;

export function deploymentId(number: number): string {
  return `depl-0199f0a2-6c3e-7d5b-9a41-${String(number).padStart(12, "0")}`;
}

/** An application as the API shows it. */
export function sampleApplication(attributes: Partial<ApplicationResource["attributes"]> = {}) {
  const environment = { type: "environments" as const, id: ENVIRONMENT_ID };
  return {
    id: APPLICATION_ID,
    type: "applications",
    attributes: {
      name: "Web shop",
      slug: "web-shop",
      region: "us-east-1",
      slack_channel: null,
      avatar_url: null,
      created_at: AT,
      repository: null,
      ...attributes,
    },
    relationships: {
      organization: { data: { type: "organizations", id: "org-1" } },
      environments: { data: [environment] },
      defaultEnvironment: { data: environment },
    },
    meta: {
      status: "available",
      repository_url: null,
      root_directory: null,
      repository_username: null,
      deploy_key: null,
    },
  } satisfies ApplicationResource;
}

const NETWORK_SETTINGS: EnvironmentResource["attributes"]["network_settings"] = {
  cache: { strategy: "default" },
  response_headers: {
    frame: "deny",
    content_type: "nosniff",
    robots_tag: "index, follow",
    hsts: { max_age: null, include_subdomains: false, preload: false },
  },
  firewall: {
    bot_categories: [],
    rate_limit: { level: null, per_minute: null, "4xx": false, "429": false },
    under_attack_mode_started_at: null,
    block_path: true,
  },
  content_converter: false,
};

/** An environment as the API shows it, with a current deployment. */
export function sampleEnvironment(
  attributes: Partial<EnvironmentResource["attributes"]> = {},
  current: string | null = deploymentId(3),
) {
  const variables = [
    { key: "APP_KEY", value: "base64:secret" },
    { key: "GREETING", value: "hello world" },
  ];
  return {
    id: ENVIRONMENT_ID,
    type: "environments",
    links: { self: { href: environmentPath } },
    attributes: {
      name: "production",
      slug: "production",
      status: "running",
      color: "blue",
      created_from_automation: false,
      vanity_domain: "web-shop-production-8k2fqz.localhost",
      framework: "express",
      language: "javascript",
      php_major_version: null,
      serving: { mode: "process", root: null },
      build_command: null,
      deploy_command: null,
      start_command: null,
      node_version: null,
      uses_server_accelerator: false,
      uses_hibernation: true,
      hibernation_wake_up_interval: null,
      timeout: 30,
      shutdown_timeout: 10,
      uses_push_to_deploy: true,
      uses_deploy_hook: false,
      mailer: null,
      network_settings: NETWORK_SETTINGS,
      created_at: AT,
      "": { environment_variables: variables },
      environment_variables: variables,
      ...attributes,
    },
    relationships: relationshipsOf(current),
    meta: {
      url: URL_OF_IT,
      last_error: null,
      limits: null,
      isolation: null,
      health_path: null,
      serving_mode: null,
      serving_root: null,
      serving_fallback: null,
      sleep_timeout: 5,
      uses_vanity_domain: true,
      build_variables: [],
      uses_purge_edge_cache_on_deploy: true,
    },
  } satisfies EnvironmentResource;
}

function relationshipsOf(current: string | null): EnvironmentResource["relationships"] {
  const none = { data: null };
  return {
    application: { data: { type: "applications", id: APPLICATION_ID } },
    branch: { data: { type: "branches", id: "main" } },
    deployments: { data: [] },
    currentDeployment: current === null ? none : { data: { type: "deployments", id: current } },
    domains: { data: [] },
    primaryDomain: none,
    instances: { data: [] },
    database: none,
    cache: none,
    buckets: { data: [] },
    websocketApplication: none,
    secrets: { data: [] },
  };
}

/** A deployment as the API shows it; it has succeeded by default. */
export function sampleDeployment(
  number: number,
  attributes: Partial<DeploymentResource["attributes"]> = {},
  releaseOf: string | null = null,
): DeploymentResource {
  return {
    id: deploymentId(number),
    type: "deployments",
    links: { self: { href: `/deployments/${deploymentId(number)}` } },
    attributes: {
      status: "deployment.succeeded",
      branch_name: "main",
      commit_hash: "4f0c9a1d2b3c4f0c9a1d2b3c4f0c9a1d2b3c4f0c",
      commit_message: `Change ${number}`,
      commit_author: "Ada",
      failure_reason: null,
      php_major_version: null,
      build_command: null,
      node_version: "24",
      uses_server_accelerator: false,
      uses_hibernation: true,
      hibernation_wake_up_interval: null,
      started_at: "2026-03-15T08:18:53.000000Z",
      finished_at: "2026-03-15T08:19:05.500000Z",
      ...attributes,
    },
    relationships: {
      environment: { data: { type: "environments", id: ENVIRONMENT_ID } },
      initiator: { data: null },
    },
    meta: { release_of: releaseOf, plan: null, created_at: AT },
  };
}

export function commandId(number: number): string {
  return `comm-0199f0a2-6c3e-7d5b-9a41-${String(number).padStart(12, "0")}`;
}

/** A command as the API shows it. */
export function sampleCommand(
  number: number,
  attributes: Partial<CommandResource["attributes"]> = {},
): CommandResource {
  return {
    id: commandId(number),
    type: "commands",
    links: { self: { href: `/commands/${commandId(number)}` } },
    attributes: {
      terminal: false,
      command: "true",
      output: null,
      status: "command.success",
      exit_code: 0,
      failure_reason: null,
      started_at: AT,
      finished_at: AT,
      created_at: AT,
      ...attributes,
    },
    relationships: {
      environment: { data: { type: "environments", id: ENVIRONMENT_ID } },
      deployment: { data: { type: "deployments", id: deploymentId(3) } },
      initiator: { data: null },
    },
    meta: { is_output_cut: false },
  };
}

/** The log of a deployment. */
export function sampleLog(
  status: DeploymentLog["meta"]["deployment_status"],
  build: DeploymentLog["data"]["build"]["steps"] = [],
): () => Response {
  const deploy = { available: false, steps: [] };
  return () =>
    Response.json({
      data: { build: { available: true, steps: build }, deploy },
      meta: { deployment_status: status },
    });
}

/** A folder of its own; the function at the end of its use removes it. */
export function temporaryFolder(name = "Web shop"): { path: string; remove(): void } {
  const parent = mkdtempSync(join(tmpdir(), "pilvi-folder-"));
  return { path: join(parent, name), remove: () => rmSync(parent, { recursive: true, force: true }) };
}

/** Links a folder to the sample environment. */
export function link(folder: string, url: string): void {
  writeLink(folder, { url, application_id: APPLICATION_ID, environment_id: ENVIRONMENT_ID });
}

export const APP_ID = "inst-0199f0a2-6c3e-7d5b-9a41-000000000001";
export const PROCESS_ID = "process-0199f0a2-6c3e-7d5b-9a41-000000000001";

/** An instance as the API shows it. */
export function sampleInstance(attributes: Partial<InstanceResource["attributes"]> = {}, id = APP_ID) {
  return {
    id,
    type: "instances",
    attributes: {
      name: "App",
      type: "app",
      size: "flex.g-1vcpu-512mb",
      scaling_type: "none",
      min_replicas: 1,
      max_replicas: 1,
      uses_scheduler: false,
      scaling_cpu_threshold_percentage: null,
      scaling_memory_threshold_percentage: null,
      created_at: AT,
      ...attributes,
    },
    relationships: {
      environment: { data: { type: "environments", id: ENVIRONMENT_ID } },
      backgroundProcesses: { data: [] },
    },
  } satisfies InstanceResource;
}

/** A background process as the API shows it. */
export function sampleProcess(
  attributes: Partial<BackgroundProcessResource["attributes"]> = {},
  procfileName: string | null = null,
  id = PROCESS_ID,
) {
  return {
    id,
    type: "background_processes",
    attributes: {
      type: "custom",
      processes: 1,
      command: "node mail.js",
      config: [],
      strategy_type: "none",
      strategy_threshold: null,
      created_at: AT,
      ...attributes,
    },
    relationships: { instance: { data: { type: "instances", id: APP_ID } } },
    meta: { procfile_name: procfileName, running: 1, last_error: null },
  } satisfies BackgroundProcessResource;
}
