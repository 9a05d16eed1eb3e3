// How environments and deployments look to people.
import type { DeploymentResource, EnvironmentResource } from "../../sdk/index.ts";
import { table } from "../table.ts";
import { durationText } from "./steps.ts";

export const environmentColumns = ["NAME", "STATUS", "BRANCH", "ADDRESS", "ID"];

export function environmentCells(environment: EnvironmentResource): string[] {
  const { id, attributes, relationships, meta } = environment;
  return [attributes.name, statusOf(environment), relationships.branch.data?.id ?? "", meta.url, id];
}

/** The API has no word for an environment that waits for its first release; nothing runs in it. */
function statusOf({ attributes: { status }, relationships }: EnvironmentResource): string {
  return status === "running" && relationships.currentDeployment.data === null ? "empty" : status;
}

/** Name and value of each property, one a line. @param latest the latest deployment, if there is one. */
export function environmentText(
  environment: EnvironmentResource,
  application: string,
  latest?: DeploymentResource,
): string {
  const { id, attributes, relationships, meta } = environment;
  const { database, cache, websocketApplication } = relationships;
  return table([
    ["Application", application],
    ["Environment", attributes.name],
    ["Id", id],
    ["Status", statusOf(environment)],
    ...(meta.last_error === null ? [] : [["Last error", meta.last_error]]),
    ["Address", meta.url],
    ["Branch", relationships.branch.data?.id ?? "unknown"],
    ...optional("Framework", attributes.framework),
    ...optional("Build command", attributes.build_command),
    ...optional("Deploy command", attributes.deploy_command),
    ...optional("Start command", attributes.start_command),
    ...optional("Build variables", meta.build_variables.join(", ") || null),
    ...optional("Health check", meta.health_path === "port" ? "an open port" : meta.health_path),
    ...optional("Serving", meta.serving_mode),
    ...optional("Public folder", meta.serving_root),
    ...optional("Without a file", meta.serving_fallback),
    ...optional("Isolation", meta.isolation),
    ["Hibernates", attributes.uses_hibernation ? `after ${meta.sleep_timeout} min` : "no"],
    ...(meta.uses_purge_edge_cache_on_deploy ? [] : [["Edge cache", "kept over deployments"]]),
    ...optional("Under attack", attributes.network_settings.firewall.under_attack_mode_started_at),
    ...optional("Database", database.data?.id ?? null),
    ...optional("Cache", cache.data?.id ?? null),
    ...optional("WebSockets", websocketApplication.data?.id ?? null),
    ["Deployment", relationships.currentDeployment.data?.id ?? "none yet"],
    ...(latest === undefined ? [] : [["Latest", `${latest.attributes.status} (${titleOf(latest)})`]]),
    ["Created", attributes.created_at],
  ]);
}

export const deploymentColumns = ["", "STATUS", "COMMIT", "BEGAN", "TOOK", "MESSAGE", "ID"];

/** @param current the id of the deployment that serves. */
export function deploymentCells(deployment: DeploymentResource, current: string | undefined): string[] {
  const { id, attributes, meta } = deployment;
  const { status, commit_hash: hash, started_at: start, finished_at: end } = attributes;
  const took = start === null || end === null ? "" : durationText(Date.parse(end) - Date.parse(start));
  const began = meta.created_at.slice(0, 19).replace("T", " ");
  return [id === current ? "*" : "", status, (hash ?? "").slice(0, 7), began, took, titleOf(deployment), id];
}

const MAX_TITLE = 30;

/** The first line of the message, cut to a column. */
function titleOf({ attributes, meta }: DeploymentResource): string {
  if (meta.release_of !== null) return `release of ${meta.release_of.slice(0, 18)}`;
  const [title = ""] = (attributes.commit_message ?? "").split("\n");
  return title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}…` : title;
}

function optional(title: string, value: string | null): string[][] {
  if (value === null) return [];
  const [first = "", ...rest] = value.split("\n");
  return [[title, first], ...rest.map((line) => ["", line])];
}
