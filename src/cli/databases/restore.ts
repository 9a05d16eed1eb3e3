// `pilvi databases restore`, `clone`, `undelete` and `purge`.
import type { Command } from "commander";
import type { NewDatabaseRestore, PilviClient } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import { instantOf } from "../instant.ts";
import { nameArgument, withJson, withWait, type WaitOptions } from "../options.ts";
import { type Session, withExamples } from "../session.ts";
import { finishCreate } from "../shared/create.ts";
import { addPurge } from "../shared/purge.ts";
import { deletedIdOf, sourceIdOf } from "../shared/source.ts";
import { utf8Text } from "../utf8.ts";
import { clusterKind } from "./kind.ts";
import { addRefresh } from "./refresh.ts";

interface CopyOptions extends WaitOptions {
  name: string;
  at?: string;
  json?: true;
}

type CloneOptions = CopyOptions & { mask?: string; database?: string };

const CLUSTER = nameArgument(clusterKind.noun);
const NEW_NAME = "of the new cluster; need not be unique";
const AT = "the instant: '10 minutes ago', or 2026-03-15T08:00:00Z";

/** An owner who had backups before would take them for granted. */
const NO_SCHEDULE =
  "It comes back without a schedule of backups. Turn its window on with: pilvi databases update NAME --config retention_days=DAYS\n";

/** Adds the commands. */
export function addRestores(databases: Command, session: Session): void {
  addRestore(databases, session);
  addClone(databases, session);
  addUndelete(databases, session);
  addPurge(databases, session, clusterKind, (client, id) => client.databases.purge(id), "orders");
  addRefresh(databases, session);
}

function addRestore(databases: Command, session: Session): void {
  const command = databases
    .command("restore")
    .description("restore an instant or a snapshot to a new cluster; the source stays")
    .argument("<name-or-id>", CLUSTER)
    .requiredOption("--name <name>", NEW_NAME)
    .option("--at <instant>", AT, (text: string) => instantOf(text))
    .option("--snapshot <id>", "the snapshot, as `snapshots list` shows it");
  withWait(withJson(command), "it can be used").action(
    async (nameOrId: string, options: CopyOptions & { snapshot?: string }) => {
      const { name, at, snapshot } = options;
      if ((at === undefined) === (snapshot === undefined))
        command.error("error: give either --at or --snapshot", { exitCode: 2 });
      const target = at === undefined ? { database_snapshot_id: snapshot } : { restore_time: at };
      await restore(session, nameOrId, { name, ...target } as NewDatabaseRestore, options);
    },
  );
  withExamples(command, [
    "pilvi databases restore orders --name orders-before --at '10 minutes ago' --wait",
    "pilvi databases restore orders --name orders-before --snapshot snapshot-0199f0a2-…",
  ]);
}

async function restore(
  session: Session,
  nameOrId: string,
  body: NewDatabaseRestore,
  options: CopyOptions,
): Promise<void> {
  const client = await session.client();
  const created = await client.databases.restore(await sourceIdOf(clusterKind, client, nameOrId), body);
  await finishCreate(session, clusterKind, client, created, options);
}

function addClone(databases: Command, session: Session): void {
  const command = databases
    .command("clone")
    .description("make a new cluster with the data of a cluster; a sleeping one is not woken")
    .argument("<name-or-id>", CLUSTER)
    .requiredOption("--name <name>", NEW_NAME)
    .option("--at <instant>", `${AT}; now when left out`, (text: string) => instantOf(text))
    .option("--mask <file>", "SQL that masks its data before anybody can log in; - is stdin")
    .option("--database <name>", "the database that --mask runs in (default: the oldest, such as main)");
  withWait(withJson(command), "it can be used").action(async (nameOrId: string, options: CloneOptions) => {
    const { name, at, mask: file, database } = options;
    if (database !== undefined && file === undefined)
      command.error("error: --database needs --mask", { exitCode: 2 });
    const mask =
      file === undefined ? undefined : { sql: await sqlIn(session, file), ...(database && { database }) };
    const client = await session.client();
    const id = await sourceIdOf(clusterKind, client, nameOrId);
    const body = { name, ...(at !== undefined && { restore_time: at }), ...(mask && { mask }) };
    const created = await client.databases.clone(id, body);
    await finishCreate(session, clusterKind, client, created, options);
  });
  withExamples(command, [
    "pilvi databases clone orders --name orders-preview --wait",
    "pilvi databases clone orders --name orders-preview --mask mask.sql --wait",
  ]);
}

/** @throws CommandError when the file cannot be read. */
async function sqlIn(session: Session, file: string): Promise<string> {
  if (file === "-") return await session.io.readInput();
  const bytes = await Bun.file(file)
    .bytes()
    .catch(() => {
      throw new CommandError(`The file ${file} cannot be read.`);
    });
  return utf8Text(bytes, `The file ${file}`);
}

function addUndelete(databases: Command, session: Session): void {
  const command = databases
    .command("undelete")
    .description("restore a deleted cluster to its latest state, under its former name")
    .argument("<name-or-id>", "the id of the deleted cluster, or its name");
  withWait(withJson(command), "it can be used").action(async (nameOrId: string, options: CopyOptions) => {
    const client = await session.client();
    const id = await deletedIdOf(clusterKind, client, nameOrId);
    const latest = await latestOf(client, id);
    session.io.err(NO_SCHEDULE);
    await restore(session, id, latest, options);
  });
  withExamples(command, ["pilvi databases undelete orders --wait"]);
}

/** The latest state that is kept of a deleted cluster. */
async function latestOf(client: PilviClient, id: string): Promise<NewDatabaseRestore> {
  for await (const archive of client.backups.all()) {
    const { name, deleted_at: deletedAt } = archive.attributes;
    if (archive.id !== id || deletedAt === null) continue;
    // A deletion stores the last of the log before it ends.
    await client.databases.untilDeleted(id);
    const { window, backups } = (await client.databases.backups(id)).data;
    if (window !== null) return { name, restore_time: window.latest };
    const newest = backups.at(-1);
    if (newest !== undefined) return { name, database_snapshot_id: newest.id };
  }
  throw new CommandError(
    "No backup of such a deleted cluster is kept. `pilvi backups` lists all that is kept.",
  );
}
