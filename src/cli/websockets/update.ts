// `pilvi websockets update`.
import type { Command } from "commander";
import type { WebSocketClusterChange } from "../../sdk/index.ts";
import { withJson, withWait, wholeNumber, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { requireChange } from "../shared/update.ts";
import { CLUSTER, CONNECTIONS, NAME } from "./arguments.ts";
import { finishChange } from "./change.ts";
import { clusterKind } from "./kind.ts";

interface UpdateOptions extends WaitOptions {
  name?: string;
  maxConnections?: number;
  json?: true;
}

/** Adds the command. */
export function addUpdate(websockets: Command, session: Session): void {
  const command = websockets
    .command("update")
    .description("change a WebSocket cluster; nobody is disconnected, unless there are too many")
    .argument("<name-or-id>", CLUSTER)
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
