// `pilvi databases queries` and `pilvi databases cancel`: what runs in a cluster, and how it is ended.
import type { Command } from "commander";
import type { DatabaseQuery } from "../../sdk/index.ts";
import { nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { clusterKind } from "./kind.ts";
import { fittedTable, timeText } from "./statement-text.ts";

const CLUSTER = nameArgument(clusterKind.noun);

const STATES: Record<DatabaseQuery["attributes"]["state"], string> = {
  active: "active",
  idle: "idle",
  idle_in_transaction: "open",
  idle_in_failed_transaction: "failed",
};

/** Adds the command. */
export function addQueries(databases: Command, session: Session): void {
  const command = databases
    .command("queries")
    .description("show what runs in a database cluster; it is not woken")
    .argument("<name-or-id>", CLUSTER)
    .option("--idle", "idle sessions as well");
  withJson(command).action(async (nameOrId: string, options: { idle?: true; json?: true }) => {
    const client = await session.client();
    const { data } = await find(clusterKind, client, nameOrId);
    const document = await client.databases.queries(data.id, { withIdle: options.idle === true });
    if (options.json === true) return session.io.out(jsonText(document));
    if (document.meta.is_asleep) return session.io.out("The cluster sleeps, so nothing runs in it.\n");
    if (document.data.length === 0) return session.io.out("Nothing runs at the moment.\n");
    session.io.out(fittedTable([["ID", "USER", "STATE", "TIME", "STATEMENT"], ...document.data.map(rowOf)]));
    const rest = document.meta.total - document.data.length;
    if (rest > 0) session.io.out(`And ${rest} more.\n`);
  });
  withExamples(command, [
    "pilvi databases queries orders",
    "pilvi databases queries orders --idle --json | jq -r '.data[].attributes.text'",
  ]);
}

function rowOf({ id, attributes }: DatabaseQuery): string[] {
  const { user, state, duration_ms: ms, text } = attributes;
  return [id, user, STATES[state], timeText(ms), text ?? ""];
}

/** Adds the command. */
export function addCancel(databases: Command, session: Session): void {
  const command = databases
    .command("cancel")
    .description("cancel a statement that runs in a database cluster, or end its session")
    .argument("<name-or-id>", CLUSTER)
    .argument("<query>", "the id of the query, as `queries` shows it")
    .option("--session", "end the session with all that it has open")
    .action(async (nameOrId: string, query: string, options: { session?: true }) => {
      const client = await session.client();
      const { data } = await find(clusterKind, client, nameOrId);
      const scope = options.session === true ? "session" : "statement";
      await client.databases.cancelQuery(data.id, query, scope);
      session.io.out(scope === "session" ? "The session ends.\n" : "The statement is cancelled.\n");
    });
  withExamples(command, [
    "pilvi databases cancel orders 4711-hgk2j4x9s0-2n9c",
    "pilvi databases cancel orders 4711-hgk2j4x9s0-2n9c --session",
  ]);
}
