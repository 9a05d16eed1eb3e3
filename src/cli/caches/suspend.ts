// Puts a cache to sleep for `pilvi caches suspend`.
import { PilviError, type CacheDocument, type PilviClient } from "../../sdk/index.ts";
import { CommandError } from "../failure.ts";

/** @throws CommandError with the command that lets the cache sleep, where the API names its field. */
export async function suspendCache(client: PilviClient, id: string): Promise<CacheDocument> {
  try {
    return await client.caches.suspend(id);
  } catch (error) {
    if (!(error instanceof PilviError && error.message.includes("uses_hibernation"))) throw error;
    throw new CommandError(
      `The cache does not hibernate. Let it sleep with: pilvi caches update ${id} --hibernate`,
    );
  }
}
