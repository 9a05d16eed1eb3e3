// `pilvi websockets create` and `pilvi websockets update`.
import type { Command } from "commander";
import type { NewWebSocketCluster, WebSocketClusterChange } from "../../sdk/index.ts";
import { nameArgument, withJson, withWait, wholeNumber, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { finishCreate } from "../shared/create.ts";
import { find } from "../shared/find.ts";
import { requireChange } from "../shared/update.ts";
import { finishChange } from "./change.ts";
import { clusterKind } from "./kind.ts";

interface CreateOptions extends WaitOptions {
  type: string;
  region: string;
  maxConnections: number;
  json?: true;
}

interface UpdateOptions extends WaitOptions {
  name?: string;
  maxConnections?: number;
  json?: true;
}

const NAME = "2 to 40 lowercase letters, digits, underscores and hyphens; need not be unique";
const CONNECTIONS = "of all applications together: 100, 200, 500, 2000, 5000 or 10000";

/** Adds `create`. */
export function addCreate(websockets: Command, session: Session): void {
  const command = websockets
    .command("create")
    .description("create a WebSocket cluster with an application named main")
    .argument("<name>", NAME)
    .option("--type <type>", "what to order", "builtin")
    .option("--region <region>", "a label; one machine serves all regions", "us-east-1")
    .option("--max-connections <number>", CONNECTIONS, wholeNumber, 100);
  withWait(withJson(command), "it can be used").action(async (name: string, options: CreateOptions) => {
    const { type, region, maxConnections } = options;
    const client = await session.client();
    // The server checks field by field; a second list of allowed values here would only get out of date.
    const body = { name, type, region, max_connections: maxConnections } as NewWebSocketCluster;
    await finishCreate(session, clusterKind, client, await client.websockets.create(body), options);
  });
  withExamples(command, [
    "pilvi websockets create chat --wait",
    "pilvi websockets create chat --max-connections 2000 --region eu-central-1",
    "pilvi websockets create chat --wait --json | jq '.included[0].attributes | {app_id, key, secret}'",
  ]);
}

/** Adds `update`. */
export function addUpdate(websockets: Command, session: Session): void {
  const command = websockets
    .command("update")
    .description("change a WebSocket cluster; nobody is disconnected, unless there are too many")
    .argument("<name-or-id>", nameArgument(clusterKind.noun))
    .option("--name <name>", NAME)
    .option("--max-connections <number>", `${CONNECTIONS}; split evenly from then on`, wholeNumber);
  withWait(withJson(command), "the change is in force").action(
    async (nameOrId: string, options: UpdateOptions) => {
      const { name, maxConnections } = options;
      const change = { name, max_connections: maxConnections };
      requireChange(command, change);
      const client = await session.client();
      const { data } = await find(clusterKind, client, nameOrId);
      const { id } = data;
      // As with a create, the server knows the numbers.
      await client.websockets.update(id, change as WebSocketClusterChange);
      const { details } = clusterKind;
      await finishChange(session, { client, clusterId: id, options, id, kind: clusterKind, details });
    },
  );
  withExamples(command, [
    "pilvi websockets update chat --max-connections 500 --wait",
    "pilvi websockets update chat --name talk",
  ]);
}
