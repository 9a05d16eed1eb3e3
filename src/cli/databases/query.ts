// `pilvi databases query`: runs a statement in a database, through the API.
import type { Command } from "commander";
import { PilviError, queryCsv, type DatabaseClusterDocument, type QueryDocument } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { countingNumber, nameArgument, withJson } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { find } from "../shared/find.ts";
import { clusterKind } from "./kind.ts";
import { endText, resultText } from "./query-text.ts";

interface Options {
  database?: string;
  write?: true;
  maxRows?: number;
  timeout?: number;
  csv?: true;
  json?: true;
}

/** Adds the command. */
export function addQuery(databases: Command, session: Session): void {
  const command = databases
    .command("query")
    .description("run a statement in a database, read-only unless --write is given")
    .argument("<name-or-id>", nameArgument(clusterKind.noun))
    .argument("[statement]", "a single statement (default: what comes on stdin)")
    .option("--database <name>", "in which database (default: the cluster's oldest, such as main)")
    .option("--write", "let the statement change data")
    .option("--max-rows <rows>", "rows to show at most (default: 500)", countingNumber)
    .option("--timeout <seconds>", "after which time the engine cancels it (default: 30)", countingNumber)
    .option("--csv", "print the rows as CSV on stdout");
  withJson(command).action(async (nameOrId: string, statement: string | undefined, options: Options) => {
    const cluster = await find(clusterKind, await session.client(), nameOrId);
    const text = statement ?? (await session.io.readInput());
    print(session, await run(session, cluster, text, options), options);
  });
  withExamples(command, [
    "pilvi databases query orders 'select * from users limit 5'",
    "pilvi databases query orders --database reports --csv < report.sql > report.csv",
    "pilvi databases query orders --write \"delete from jobs where state = 'done'\"",
  ]);
}

async function run(
  session: Session,
  cluster: DatabaseClusterDocument,
  statement: string,
  { database, write, maxRows, timeout }: Options,
): Promise<QueryDocument> {
  const { databases } = await session.client();
  const body = {
    statement,
    read_only: write !== true,
    ...(maxRows !== undefined && { max_rows: maxRows }),
    ...(timeout !== undefined && { timeout_seconds: timeout }),
  };
  try {
    return await databases.query(cluster.data.id, databaseIdIn(cluster, database), body);
  } catch (error) {
    if (error instanceof PilviError && error.engine !== undefined)
      throw new CommandError(faultText(error, statement));
    throw error;
  }
}

/** @throws CommandError when the cluster has no such database, or none. */
function databaseIdIn({ data, included = [] }: DatabaseClusterDocument, name: string | undefined): string {
  const found =
    name === undefined ? included[0] : included.find(({ attributes }) => attributes.name === name);
  if (found !== undefined) return found.id;
  const what = name === undefined ? "database" : `database named ${name}`;
  throw new CommandError(`${data.attributes.name} has no ${what}.`);
}

/** The engine's words, and the line of the statement that they are about with a mark below the place. */
function faultText({ message, engine }: PilviError, statement: string): string {
  const { code = "", position = null, detail, hint } = engine ?? {};
  const lines = [`${message} (${code})`];
  if (position !== null) {
    const before = Array.from(statement)
      .slice(0, position - 1)
      .join("");
    const line = statement.split("\n")[before.split("\n").length - 1] ?? "";
    const column = Array.from(before.slice(before.lastIndexOf("\n") + 1)).length;
    lines.push(`  ${line}`, `  ${" ".repeat(column)}^`);
  }
  if (detail) lines.push(`Detail: ${detail}`);
  if (hint) lines.push(`Hint: ${hint}`);
  return lines.join("\n");
}

function print({ io }: Session, document: QueryDocument, { csv, json }: Options): void {
  if (json === true) return io.out(jsonText(document));
  const { data } = document;
  if (csv === true) io.data(queryCsv(data));
  else io.out(resultText(data, io.outColumns));
  io.err(endText(data));
}
