// How database clusters look to people.
import type { DatabaseClusterDocument, DatabaseClusterResource } from "../../sdk/index.ts";
import { connectionRows, credentialsOf, formerPasswordRows } from "../shared/connection.ts";
import { headRows } from "../shared/details.ts";
import { sleepRows } from "../shared/sleep.ts";
import { filledLines, rowsOf, table } from "../table.ts";
import { clientOf } from "./clients.ts";

/** What is left of a line of 80 characters beside the name of a property. */
const CONFIG_CHARACTERS = 60;

/** Name and value of each property of a cluster, one a line; the config has several. */
export function detailsText(document: DatabaseClusterDocument): string {
  const { data: cluster } = document;
  const { config, connection } = cluster.attributes;
  const names = namesIn(document);
  // Clients take a URL without a database for a URL of the database with the user's name.
  const [path] = names;
  return table([
    ...headRows(cluster),
    ...rowsOf("Config", filledLines(Object.entries(config).map(settingText), CONFIG_CHARACTERS, ", ")),
    ["In force", limitsText(cluster.meta.limits)],
    ...sleepRows(cluster.meta.sleep),
    ["Databases", names.length === 0 ? "none" : names.join(", ")],
    ...connectionRows(connection, "databases", path === undefined ? "" : `/${path}`),
    ...cluster.meta.replicas.map(replicaRow),
    ...formerPasswordRows(cluster.meta.former_credentials),
  ]);
}

/** A line that people can copy to try the cluster; empty when the credentials are hidden. */
export function tryText({ data: { id, attributes } }: DatabaseClusterDocument): string {
  if (credentialsOf(attributes.connection) === undefined) return "";
  return `\nTry it: npx pilvi databases ${clientOf(attributes.connection.protocol).command} ${id}\n`;
}

/** Names the databases of a cluster, the oldest first. A database that is being deleted is left out. */
export function namesIn({ included = [] }: DatabaseClusterDocument): string[] {
  return included
    .filter(({ attributes }) => attributes.status !== "deleting")
    .map(({ attributes }) => attributes.name);
}

function replicaRow(replica: DatabaseClusterResource["meta"]["replicas"][number]): [string, string] {
  const { hostname, port, status, lag_seconds: lag, last_error: error } = replica;
  const state = [status, ...(lag === null ? [] : [`${lag} s behind`]), ...(error === null ? [] : [error])];
  return ["Replica", `${hostname}:${port} (${state.join(", ")})`];
}

function settingText([name, value]: [string, unknown]): string {
  return `${name}=${String(value)}`;
}

function limitsText(limits: DatabaseClusterResource["meta"]["limits"]): string {
  if (limits === null) return "not known yet";
  const { memory_bytes: bytes, cpus, max_connections: connections, enforced_by: by } = limits;
  const parts = [
    `${Math.floor(bytes / 1024 ** 2)} MiB of memory`,
    ...(cpus === null ? [] : [`${cpus} CPUs`]),
    ...(connections === null ? [] : [`${connections} connections`]),
  ];
  return `${parts.join(", ")} (held to it by ${by === "engine" ? "the engine itself" : by})`;
}
