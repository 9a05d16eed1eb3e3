// `pilvi databases statements`: what the statements of a cluster have taken.
import { type Command, Option } from "commander";
import type { DatabaseStatement, StatementOrder } from "../../sdk/index.ts";
import { countingNumber, nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { clusterKind } from "./kind.ts";
import { fittedTable, timeText } from "./statement-text.ts";

const ORDERS: StatementOrder[] = ["total_time", "mean_time", "max_time", "calls", "rows"];

interface Options {
  sort?: StatementOrder;
  limit: number;
  reset?: true;
  json?: true;
}

/** Adds the command. */
export function addStatements(databases: Command, session: Session): void {
  const command = databases
    .command("statements")
    .description("show the slow statements of a Postgres cluster; it is not woken")
    .argument("<name-or-id>", nameArgument(clusterKind.noun))
    .addOption(new Option("--sort <figure>", "by which figure, the largest first").choices(ORDERS))
    .addOption(new Option("--limit <number>", "how many, 100 at most").argParser(countingNumber).default(20))
    .option("--reset", "begin all figures anew, and show nothing");
  withJson(command).action(async (nameOrId: string, { sort, limit, reset, json }: Options) => {
    const client = await session.client();
    const { data } = await find(clusterKind, client, nameOrId);
    if (reset === true) {
      await client.databases.resetStatements(data.id);
      return session.io.out("All figures begin anew.\n");
    }
    const document = await client.databases.statements(data.id, { limit, ...(sort && { sort }) });
    if (json === true) return session.io.out(jsonText(document));
    if (document.meta.is_asleep)
      return session.io.out("The cluster sleeps. Its figures can be read when it is awake.\n");
    if (document.data.length === 0) return session.io.out("No statement has run yet.\n");
    const head = ["CALLS", "TOTAL", "MEAN", "MAX", "ROWS", "STATEMENT"];
    session.io.out(fittedTable([head, ...document.data.map(rowOf)]));
  });
  withExamples(command, [
    "pilvi databases statements orders",
    "pilvi databases statements orders --sort mean_time --limit 5",
    "pilvi databases statements orders --reset",
  ]);
}

function rowOf({ attributes }: DatabaseStatement): string[] {
  const { calls, total_time_ms: total, mean_time_ms: mean, max_time_ms: max, rows, text } = attributes;
  return [String(calls), timeText(total), timeText(mean), timeText(max), String(rows), text ?? "-"];
}
