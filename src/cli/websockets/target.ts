// The cluster and the application that a command connects to, with their URLs.
import type { PilviClient, WebsocketApplicationResource, WebsocketServerResource } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { find } from "../shared/find.ts";
import { credentialsOf } from "./application-text.ts";
import { clusterKind } from "./kind.ts";
import type { Credentials } from "./signatures.ts";

/** A cluster that can be used, through an application of it. */
export interface Target {
  cluster: WebsocketServerResource;
  application: WebsocketApplicationResource;
  credentials: Credentials;
  /** The address for clients, and the address where applications publish. */
  url: string;
  httpUrl: string;
}

/**
 * Finds both; without a name the application is the oldest.
 * @throws CommandError when there is no such application, or its secret may not be seen.
 */
export async function targetOf(
  client: PilviClient,
  clusterNameOrId: string,
  applicationNameOrId: string | undefined,
): Promise<Target> {
  const { data: cluster, included = [] } = await find(clusterKind, client, clusterNameOrId);
  const application = chosen(included, cluster.attributes.name, applicationNameOrId);
  const credentials = credentialsOf(application);
  if (credentials === undefined) {
    throw new CommandError(
      "This token may not see the application's secret; it needs the ability websockets:credentials.",
    );
  }
  return { cluster, application, credentials, url: cluster.meta.url, httpUrl: cluster.meta.http_url };
}

/** @throws CommandError when the cluster cannot be used, or a change of it is not in force yet. */
export function requireAvailable({ cluster: { id, attributes } }: Target): void {
  const { name, status } = attributes;
  if (status === "available") return;
  throw new CommandError(
    `The status of ${name} is ${status}. Wait for it with: pilvi websockets show ${id} --wait`,
  );
}

function chosen(
  applications: WebsocketApplicationResource[],
  cluster: string,
  nameOrId: string | undefined,
): WebsocketApplicationResource {
  const fitting =
    nameOrId === undefined
      ? applications.slice(0, 1)
      : applications.filter(({ id, attributes }) => id === nameOrId || attributes.name === nameOrId);
  const [only, ...others] = fitting;
  if (only === undefined) {
    throw new CommandError(
      nameOrId === undefined
        ? `The WebSocket cluster ${cluster} has no application. Create one with: pilvi websockets apps create ${cluster} NAME`
        : `The WebSocket cluster ${cluster} has no application named ${nameOrId}.`,
    );
  }
  if (others.length === 0) return only;
  const ids = fitting.map(({ id }) => `  ${id}`).join("\n");
  throw new CommandError(
    `${fitting.length} WebSocket applications are named ${nameOrId}. Use the id of one:\n${ids}`,
  );
}
