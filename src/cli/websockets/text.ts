// How WebSocket clusters look to people.
import type { WebSocketClusterDocument, WebsocketServerResource } from "../../sdk/index.ts";
import { headRows } from "../shared/details.ts";
import { table } from "../table.ts";
import { credentialRows, credentialsOf } from "./application-text.ts";

/** Name and value of each property of a cluster, one a line. */
export function detailsText({ data: cluster, included = [] }: WebSocketClusterDocument): string {
  const { attributes, meta } = cluster;
  const names = included.map((application) => application.attributes.name);
  const [only, ...others] = included;
  return table([
    ...headRows(cluster),
    ["Connections", connectionsText(cluster)],
    ["Host", attributes.hostname],
    ["Port", String(meta.port)],
    ["URL", `${meta.url} (clients), ${meta.http_url} (publishing)`],
    ["Applications", names.length === 0 ? "none" : names.join(", ")],
    ...(only !== undefined && others.length === 0 ? credentialRows(only) : []),
  ]);
}

/** Lines that people can copy to try the cluster; empty when the credentials are hidden. */
export function tryText({ data: { id }, included = [] }: WebSocketClusterDocument): string {
  const [oldest] = included;
  if (oldest === undefined || credentialsOf(oldest) === undefined) return "";
  return [
    `\nTry it:               npx pilvi websockets listen ${id} news`,
    `In another terminal:  npx pilvi websockets publish ${id} news hello '{"text":"moi"}'\n`,
  ].join("\n");
}

/** Host and port as one word. */
export function addressIn({ meta }: WebsocketServerResource): string {
  return new URL(meta.http_url).host;
}

function connectionsText({ attributes, meta }: WebsocketServerResource): string {
  const { max_connections: ordered, connection_distribution_strategy: strategy } = attributes;
  const split =
    strategy === "evenly" ? "split evenly over the applications" : "each application has its own number";
  const inForce = meta.limits?.max_connections;
  const note = inForce === undefined || inForce === ordered ? "" : `, ${inForce} in force`;
  return `${ordered}${note} (${split})`;
}
