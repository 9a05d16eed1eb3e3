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
  const found = ids.length > 0 ? ids : await deletedIds(kind.group, client, nameOrId);
  const [only] = found;
  if (only === undefined) {
    throw new CommandError(`There is no ${kind.noun} named ${nameOrId}, and no backup of a deleted one.`);
  }
  if (found.length === 1) return only;
  const list = found.map((id) => `  ${id}`).join("\n");
  throw new CommandError(`${found.length} ${kind.plural} are named ${nameOrId}. Use the id of one:\n${list}`);
}

async function deletedIds(group: string, client: PilviClient, name: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id, attributes } of client.backups.all()) {
    if (attributes.kind === group && attributes.name === name && attributes.deleted_at !== null) ids.push(id);
  }
  return ids;
}
