// `pilvi websockets create`.
import type { Command } from "commander";
import type { NewWebSocketCluster } from "../../sdk/index.ts";
import { withJson, withWait, wholeNumber, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { finishCreate } from "../shared/create.ts";
import { CONNECTIONS, NAME } from "./arguments.ts";
import { clusterKind } from "./kind.ts";

interface CreateOptions extends WaitOptions {
  type: string;
  region: string;
  maxConnections: number;
  json?: true;
}

/** Adds the command. */
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
