// Finds the cache that a command is about, by its id or by a name that only one cache has.
import { type CacheDocument, type CacheResource, type PilviClient, PilviError } from "../../sdk/index.ts";
import { CommandFailure } from "../failure.ts";

/** Ids are longer than names may be, so that no name looks like one. */
const ID = /^cache-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws CommandFailure when there is no such cache or more than one. */
export async function findCache(client: PilviClient, nameOrId: string): Promise<CacheDocument> {
  if (ID.test(nameOrId)) return await getCache(client, nameOrId);
  const found: CacheResource[] = [];
  for await (const cache of client.caches.all()) {
    if (cache.attributes.name === nameOrId) found.push(cache);
  }
  const [only] = found;
  if (only === undefined) throw new CommandFailure(`There is no cache named ${nameOrId}.`);
  if (found.length > 1) {
    const ids = found.map(({ id }) => `  ${id}`).join("\n");
    throw new CommandFailure(`${found.length} caches are named ${nameOrId}. Use the id of one:\n${ids}`);
  }
  // A list may leave out what a single read shows, so the cache is read again.
  return await getCache(client, only.id);
}

async function getCache(client: PilviClient, id: string): Promise<CacheDocument> {
  try {
    return await client.caches.get(id);
  } catch (error) {
    if (error instanceof PilviError && error.status === 404) {
      throw new CommandFailure(`There is no cache with the id ${id}.`);
    }
    throw error;
  }
}
