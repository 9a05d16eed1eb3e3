// The commands about snapshots of database clusters and of caches: create, list, show and delete.
import type { Command } from "commander";
import type {
  CacheSnapshotResource,
  DatabaseSnapshotResource,
  PilviClient,
  SingleDocument,
  Snapshots,
} from "../../sdk/index.ts";
import { writeList } from "../list-text.ts";
import { nameArgument, withJson, withWait, type WaitOptions } from "../options.ts";
import { jsonText, type Session, withExamples } from "../session.ts";
import { table } from "../table.ts";
import { waitFor } from "../wait.ts";
import { confirm, requireAnswer, withYes, type DeleteOptions } from "./delete.ts";
import { bytesText } from "./details.ts";
import type { Resource, ShownKind } from "./kind.ts";
import { sourceIdOf } from "./source.ts";

type Snapshot = CacheSnapshotResource | DatabaseSnapshotResource;

/** What differs between the kinds. */
interface SnapshotCommands<Document extends SingleDocument<Resource>> {
  kind: ShownKind<Document>;
  requests(client: PilviClient): Snapshots<Snapshot>;
  /** The name of an instance in examples, such as `orders`. */
  example: string;
}

/** Adds `snapshots` with its commands. */
export function addSnapshots<Document extends SingleDocument<Resource>>(
  group: Command,
  session: Session,
  commands: SnapshotCommands<Document>,
): void {
  const { kind, example } = commands;
  const snapshots = group.command("snapshots").description(`the snapshots of a ${kind.noun}`);
  addCreate(snapshots, session, commands);
  addList(snapshots, session, commands);
  addShow(snapshots, session, commands);
  addDelete(snapshots, session, commands);
  withExamples(snapshots, [
    `pilvi ${kind.group} snapshots create ${example} before-migration --wait`,
    `pilvi ${kind.group} snapshots list ${example}`,
  ]);
}

function addCreate<Document extends SingleDocument<Resource>>(
  snapshots: Command,
  session: Session,
  { kind, requests, example }: SnapshotCommands<Document>,
): void {
  const command = snapshots
    .command("create")
    .description(`make a snapshot of a ${kind.noun}; a sleeping one is not woken`)
    .argument("<name-or-id>", nameArgument(kind.noun))
    .argument("<name>", "what the snapshot is called: 1 to 100 characters")
    .option("--description <text>", "what it is for: 3 to 40 characters");
  withWait(withJson(command), "it can be restored").action(
    async (instance: string, name: string, options: WaitOptions & { description?: string; json?: true }) => {
      const client = await session.client();
      const { description } = options;
      const body = { name, ...(description !== undefined && { description }) };
      const created = await requests(client).create(await sourceIdOf(kind, client, instance), body);
      const found =
        options.wait === true
          ? await waited(session, requests(client), created, options)
          : { document: created, failure: undefined };
      session.io.out(options.json === true ? jsonText(found.document) : detailsOf(found.document.data));
      if (found.failure !== undefined) throw found.failure;
    },
  );
  withExamples(command, [`pilvi ${kind.group} snapshots create ${example} before-migration --wait`]);
}

async function waited(
  { io }: Session,
  requests: Snapshots<Snapshot>,
  document: SingleDocument<Snapshot>,
  { timeout }: WaitOptions,
) {
  const { id } = document.data;
  return await waitFor<SingleDocument<Snapshot>>(io, {
    name: `the snapshot ${document.data.attributes.name ?? id}`,
    until: "available",
    timeoutSeconds: timeout,
    document,
    afterwards: `Pilvi goes on making the snapshot ${id}.`,
    get: ({ wait, signal }) => requests.get(id, { signal, ...(wait === "available" && { wait }) }),
  });
}

function addList<Document extends SingleDocument<Resource>>(
  snapshots: Command,
  session: Session,
  { kind, requests, example }: SnapshotCommands<Document>,
): void {
  const command = snapshots
    .command("list")
    .description(`list the snapshots of a ${kind.noun}, also of a deleted one`)
    .argument("<name-or-id>", nameArgument(kind.noun));
  withJson(command).action(async (instance: string, { json }: { json?: true }) => {
    const client = await session.client();
    const id = await sourceIdOf(kind, client, instance);
    const found = await Array.fromAsync(requests(client).all(id));
    if (json === true) return session.io.out(jsonText({ data: found }));
    const empty = `There are no snapshots of it. Make one with: pilvi ${kind.group} snapshots create ${instance} NAME\n`;
    const heads = ["NAME", "TYPE", "STATUS", "SIZE", "FROM", "ID"];
    if (found.length === 0) return session.io.out(empty);
    writeList(session.io, heads, found.map(cellsOf));
  });
  withExamples(command, [`pilvi ${kind.group} snapshots list ${example}`]);
}

function addShow<Document extends SingleDocument<Resource>>(
  snapshots: Command,
  session: Session,
  { kind, requests }: SnapshotCommands<Document>,
): void {
  const command = snapshots
    .command("show")
    .description("show a snapshot")
    .argument("<id>", "the id of the snapshot");
  withJson(command).action(async (id: string, { json }: { json?: true }) => {
    const document = await requests(await session.client()).get(id);
    session.io.out(json === true ? jsonText(document) : detailsOf(document.data));
  });
  withExamples(command, [`pilvi ${kind.group} snapshots show snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f`]);
}

function addDelete<Document extends SingleDocument<Resource>>(
  snapshots: Command,
  session: Session,
  { kind, requests }: SnapshotCommands<Document>,
): void {
  const command = withYes(
    snapshots
      .command("delete")
      .description("delete a snapshot; what is being made is given up")
      .argument("<id>", "the id of the snapshot"),
  ).action(async (id: string, options: Pick<DeleteOptions, "yes">) => {
    requireAnswer(command, session, options);
    const client = await session.client();
    const { data } = await requests(client).get(id);
    const title = `the snapshot ${data.attributes.name ?? "of the schedule"} (${id})`;
    if (options.yes !== true) await confirm(session.io, title);
    await requests(client).delete(id);
    session.io.out(`Deleting ${title}.\n`);
  });
  withExamples(command, [
    `pilvi ${kind.group} snapshots delete snapshot-0199f0a2-6c3e-7d5b-9a41-2f6b8c0d1e2f --yes`,
  ]);
}

function cellsOf({ id, attributes }: Snapshot): string[] {
  const { name, type, status, storage_bytes: bytes, completed_at: from } = attributes;
  return [name ?? "-", type, status, bytes === null ? "-" : bytesText(bytes), secondsOf(from), id];
}

function detailsOf({ id, attributes, meta }: Snapshot): string {
  const { name, description, type, status, storage_bytes: bytes } = attributes;
  return table([
    ...(name === null ? [] : [["Name", name]]),
    ["Id", id],
    ["Of", `${meta.source.name} (${meta.source.id})`],
    ...(description === null ? [] : [["Description", description]]),
    ["Type", type],
    ["Status", status],
    ...(meta.last_error === null ? [] : [["Last error", meta.last_error]]),
    ...(bytes === null ? [] : [["Size", bytesText(bytes)]]),
    ...(attributes.completed_at === null ? [] : [["From", attributes.completed_at]]),
    ...(attributes.pitr_ends_at === null ? [] : [["Kept until", attributes.pitr_ends_at]]),
  ]);
}

/** A time without the parts of a second. */
function secondsOf(moment: string | null): string {
  return moment === null ? "-" : `${moment.slice(0, 19)}Z`;
}
