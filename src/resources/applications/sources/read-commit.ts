// Reads a commit as deployments keep it.
import { storableText } from "../../../lib/storable.ts";
import type { Repository } from "../../../sources/repository.ts";
import type { Commit } from "../deployments/store.ts";

/** @throws SourceRefusal when there is no such commit. */
export async function readCommit(repository: Repository, hash: string): Promise<Commit> {
  const { message, author } = await repository.facts(hash);
  return { hash, message: storableText(message), author: storableText(author.name) };
}
