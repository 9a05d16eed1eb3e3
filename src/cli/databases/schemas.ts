// `pilvi databases schemas`: the databases in a cluster.
import type { Command } from "commander";
import { writeList } from "../list-text.ts";
import { withJson, withWait, nameArgument, type WaitOptions } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { finishCreate } from "../shared/create.ts";
import { deleteFound, type DeleteOptions, requireAnswer, withConfirmation } from "../shared/delete.ts";
import { find } from "../shared/find.ts";
import { joined } from "../shared/list.ts";
import { clusterKind, databaseKind } from "./kind.ts";

const CLUSTER = nameArgument(clusterKind.noun);

/** Adds `schemas` with its commands. */
export function addSchemas(databases: Command, session: Session): void {
  const schemas = databases.command("schemas").description("the databases in a cluster");
  addSchemaList(schemas, session);
  addSchemaCreate(schemas, session);
  addSchemaDelete(schemas, session);
  withExamples(schemas, [
    "pilvi databases schemas list orders",
    "pilvi databases schemas create orders reports --wait",
  ]);
}

function addSchemaList(schemas: Command, session: Session): void {
  const command = schemas
    .command("list")
    .description("list the databases in a cluster")
    .argument("<cluster>", CLUSTER);
  withJson(command).action(async (cluster: string, { json }: { json?: true }) => {
    const kind = await schemasOf(session, cluster);
    const pages = await Array.fromAsync(kind.requests(await session.client()).pages());
    if (json === true) return session.io.out(jsonText(joined(pages)));
    const found = pages.flatMap(({ data }) => data);
    const empty = `There are no databases in it. Create one with: pilvi databases schemas create ${cluster} NAME\n`;
    if (found.length === 0) return session.io.out(empty);
    writeList(
      session.io,
      kind.columns,
      found.map((each) => kind.cells(each)),
    );
  });
  withExamples(command, ["pilvi databases schemas list orders"]);
}

function addSchemaCreate(schemas: Command, session: Session): void {
  const command = schemas
    .command("create")
    .description("create a database in a cluster")
    .argument("<cluster>", CLUSTER)
    .argument("<name>", "2 to 40 lowercase letters, digits, underscores and hyphens; unique in the cluster");
  withWait(withJson(command), "it can be used").action(
    async (cluster: string, name: string, options: WaitOptions & { json?: true }) => {
      const client = await session.client();
      const { data } = await find(clusterKind, client, cluster);
      const created = await client.databases.schemas(data.id).create({ name });
      await finishCreate(session, databaseKind(data.id), client, created, options);
    },
  );
  withExamples(command, ["pilvi databases schemas create orders reports --wait"]);
}

function addSchemaDelete(schemas: Command, session: Session): void {
  const command = schemas
    .command("delete")
    .description("delete a database and everything in it; the cluster stays")
    .argument("<cluster>", CLUSTER)
    .argument("<name-or-id>", "the database's name or id");
  withConfirmation(command).action(async (cluster: string, nameOrId: string, options: DeleteOptions) => {
    requireAnswer(command, session, options);
    await deleteFound(session, await schemasOf(session, cluster), nameOrId, options);
  });
  withExamples(command, ["pilvi databases schemas delete orders reports --yes --wait"]);
}

async function schemasOf(session: Session, cluster: string): Promise<ReturnType<typeof databaseKind>> {
  const { data } = await find(clusterKind, await session.client(), cluster);
  return databaseKind(data.id);
}
