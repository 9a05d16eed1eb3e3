// Finds the instance whose backups a command is about; it may be deleted by now.
import type { PilviClient, SingleDocument } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Named, ShownKind } from "./kind.ts";

/** @returns its id. @throws CommandError when there is no such instance, or more than one of that name. */
export async function sourceIdOf<Document extends SingleDocument<Named>>(
  kind: ShownKind<Document>,
  client: PilviClient,
  nameOrId: string,
): Promise<string> {
  if (kind.idPattern.test(nameOrId)) return nameOrId;
  const ids: string[] = [];
  for await (const { data } of kind.requests(client).pages())
    ids.push(...data.filter(({ attributes }) => attributes.name === nameOrId).map(({ id }) => id));
  const missing = `There is no ${kind.noun} named ${nameOrId}, and no backup of a deleted one.`;
  return onlyOf(
    ids.length > 0 ? ids : await deletedIds(kind.group, client, nameOrId),
    kind,
    nameOrId,
    missing,
  );
}

/**
 * Finds a deleted instance with backups, also when there is another of its name by now.
 * @returns its id. @throws CommandError when no deleted instance has that name, or several have it.
 */
export async function deletedIdOf<Document extends SingleDocument<Named>>(
  kind: ShownKind<Document>,
  client: PilviClient,
  nameOrId: string,
): Promise<string> {
  if (kind.idPattern.test(nameOrId)) return nameOrId;
  const missing = `There is no backup of a deleted ${kind.noun} named ${nameOrId}. \`pilvi backups\` lists all that is kept.`;
  return onlyOf(await deletedIds(kind.group, client, nameOrId), kind, nameOrId, missing);
}

function onlyOf(
  ids: string[],
  { plural }: Pick<ShownKind<never>, "plural">,
  name: string,
  missing: string,
): string {
  const [only] = ids;
  if (only === undefined) throw new CommandError(missing);
  if (ids.length === 1) return only;
  const list = ids.map((id) => `  ${id}`).join("\n");
  throw new CommandError(`${ids.length} ${plural} are named ${name}. Use the id of one:\n${list}`);
}

async function deletedIds(group: string, client: PilviClient, name: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id, attributes } of client.backups.all()) {
    if (attributes.kind === group && attributes.name === name && attributes.deleted_at !== null) ids.push(id);
  }
  return ids;
}
