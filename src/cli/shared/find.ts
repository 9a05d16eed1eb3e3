// Finds the resource that a command is about, by its id or by a name that is unique in its kind.
import { PilviError, type PilviClient, type SingleDocument } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";
import type { Kind, Named } from "./kind.ts";

/** @throws CommandError when there is no such resource or more than one. */
export async function find<Document extends SingleDocument<Named>>(
  kind: Kind<Document>,
  client: PilviClient,
  nameOrId: string,
): Promise<Document> {
  if (kind.idPattern.test(nameOrId)) return await getById(kind, client, nameOrId);
  const found: Named[] = [];
  for await (const { data } of kind.requests(client).pages()) {
    found.push(...data.filter((each) => namesOf(kind, each).includes(nameOrId)));
  }
  const [only] = found;
  if (only === undefined) throw new CommandError(`There is no ${kind.noun} named ${nameOrId}.`);
  if (found.length > 1) {
    const ids = found.map(({ id }) => `  ${id}`).join("\n");
    throw new CommandError(
      `${found.length} ${kind.plural} are named ${nameOrId}. Use the id of one:\n${ids}`,
    );
  }
  // A list may leave out what a single read shows, so the resource is read again.
  return await getById(kind, client, only.id);
}

function namesOf<Document extends SingleDocument<Named>>(
  { aliases }: Kind<Document>,
  resource: Document["data"],
): string[] {
  return [resource.attributes.name, ...(aliases?.(resource) ?? [])];
}

async function getById<Document extends SingleDocument<Named>>(
  kind: Kind<Document>,
  client: PilviClient,
  id: string,
): Promise<Document> {
  const { include = [] } = kind;
  try {
    return await kind.requests(client).get(id, { include });
  } catch (error) {
    if (error instanceof PilviError && error.status === 404) {
      throw new CommandError(`There is no ${kind.noun} with the id ${id}.`);
    }
    throw error;
  }
}
