// `pilvi websockets debug`: prints what happens in an application until Ctrl-C.
import type { Command } from "commander";
import { countingNumber } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { CLUSTER } from "./arguments.ts";
import { debugJsonLine, debugLine } from "./debug-lines.ts";
import { targetOf } from "./target.ts";

interface DebugOptions {
  app?: string;
  type?: string;
  count?: number;
  json?: true;
}

/** Adds the command. */
export function addDebug(websockets: Command, session: Session): void {
  const command = websockets
    .command("debug")
    .description("print what happens in an application, one a line, until Ctrl-C; no cluster is woken")
    .argument("<cluster>", CLUSTER)
    .option("--app <name-or-id>", "the application (default: the cluster's oldest, such as main)")
    .option("--type <type>", "only messages of this type, such as published; several with commas between")
    .option("--count <number>", "end after so many messages", countingNumber)
    .option("--json", "print each message as an object in one line")
    .action(async (cluster: string, options: DebugOptions) => {
      await debug(session, cluster, options);
    });
  withExamples(command, [
    "pilvi websockets debug chat",
    "pilvi websockets debug chat --app website --type published,client_event",
    "pilvi websockets debug chat --json | jq -r .channel",
  ]);
}

async function debug(
  { io, client: connect }: Session,
  nameOrId: string,
  { app, type, count = Number.POSITIVE_INFINITY, json }: DebugOptions,
): Promise<void> {
  const client = await connect();
  const { cluster, application } = await targetOf(client, nameOrId, app);
  const types = type?.split(",").map((each) => each.trim());
  const end = new AbortController();
  const forget = io.onInterrupt(() => end.abort());
  let left = count;
  try {
    const messages = client.websockets.applications(cluster.id).debug(application.id, { signal: end.signal });
    for await (const message of messages) {
      if (types !== undefined && !types.includes(message.type)) continue;
      io.out((json === true ? debugJsonLine : debugLine)(message));
      left -= 1;
      if (left <= 0) return;
    }
  } finally {
    forget();
    end.abort();
  }
}
