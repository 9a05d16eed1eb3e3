// Reads a commit as deployments keep it.
import type { Repository } from "../../../sources/repository.ts";
import type { Commit } from "../deployments/store.ts";

/** @throws SourceRefusal when there is no such commit. */
export async function readCommit(repository: Repository, hash: string): Promise<Commit> {
  const { message, author } = await repository.facts(hash);
  // The store takes no null character, and a commit may have any.
  return { hash, message: message.replaceAll("\0", ""), author: author.name };
}
