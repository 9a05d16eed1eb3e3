// Finds a resource of any kind by its name or its id.
import { PilviError, type PilviClient } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";

const ID = /^[a-z]+-[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** The id of a resource. @throws CommandError when no resource has the name, or several have it. */
export async function resourceIdOf(client: PilviClient, nameOrId: string): Promise<string> {
  if (ID.test(nameOrId)) return nameOrId;
  const found: string[] = [];
  for (const collection of [client.caches, client.databases, client.websockets]) {
    try {
      for await (const { id, attributes } of collection.all())
        if (attributes.name === nameOrId) found.push(id);
    } catch (error) {
      // A token that may not read a kind does not see its events either.
      if (!(error instanceof PilviError && error.status === 403)) throw error;
    }
  }
  const [only, ...others] = found;
  if (only === undefined) {
    throw new CommandError(`Nothing is named ${nameOrId}. Use the id of what is deleted.`);
  }
  if (others.length === 0) return only;
  const ids = found.map((id) => `  ${id}`).join("\n");
  throw new CommandError(`${found.length} resources are named ${nameOrId}. Use the id of one:\n${ids}`);
}
