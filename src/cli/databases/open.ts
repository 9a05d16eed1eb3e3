// `pilvi databases psql` and `pilvi databases mysql`: a session with a cluster, with its own credentials.
import type { Command } from "commander";
import type { DatabaseClusterDocument } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { nameArgument } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { credentialsOf } from "../shared/connection.ts";
import { find } from "../shared/find.ts";
import { clientOf, type DatabaseClient, type Login } from "./clients.ts";
import { clusterKind } from "./kind.ts";
import { namesIn } from "./text.ts";

/** Adds the command for a program. */
export function addOpen(databases: Command, session: Session, client: DatabaseClient): void {
  const { command: name, label } = client;
  const command = databases
    .command(name)
    .description(`open a session with a ${label} cluster`)
    .argument("<name-or-id>", nameArgument(clusterKind.noun))
    .argument("[args...]", `what is handed on to ${name}, after two hyphens`)
    .option("--database <name>", "where to begin (default: the cluster's oldest database, such as main)")
    .action(async (nameOrId: string, args: string[], options: { database?: string }) => {
      const cluster = await find(clusterKind, await session.client(), nameOrId);
      await open(session, client, loginFor(client, cluster, options.database), args);
    });
  const statement = name === "psql" ? "-- -c 'select version()'" : "-- -e 'select version()'";
  withExamples(command, [
    `pilvi databases ${name} orders`,
    `pilvi databases ${name} orders ${statement}`,
    `pilvi databases ${name} orders --database reports < schema.sql`,
  ]);
}

async function open(session: Session, client: DatabaseClient, login: Login, args: string[]): Promise<void> {
  const program = await session.findProgram(client.protocol);
  const invocation = client.invocation(login);
  const argv = [program.path, ...invocation.args, ...args];
  session.io.exitWith(await session.io.run(argv, { ...program.env, ...invocation.env }));
}

/** @throws CommandError when the program does not speak the cluster's protocol, or a login could not work. */
function loginFor(
  client: DatabaseClient,
  document: DatabaseClusterDocument,
  database: string | undefined,
): Login {
  const { id, attributes } = document.data;
  const { hostname, port, protocol } = attributes.connection;
  const fitting = clientOf(protocol);
  if (fitting !== client) {
    throw new CommandError(
      `${attributes.name} is a ${fitting.label} cluster. Open it with: pilvi databases ${fitting.command} ${id}`,
      2,
    );
  }
  const credentials = credentialsOf(attributes.connection);
  if (credentials === undefined) {
    throw new CommandError(
      "This token may not see the cluster's password; it needs the ability databases:credentials.",
    );
  }
  if (attributes.status !== "available") {
    throw new CommandError(
      `The status of ${attributes.name} is ${attributes.status}. Wait for it with: pilvi databases show ${id} --wait`,
    );
  }
  return { hostname, port, ...credentials, database: database ?? namesIn(document)[0] };
}
