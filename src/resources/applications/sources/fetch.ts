// Fetches the commits of an application whose repository is elsewhere.
import type { KindContext } from "../../kind.ts";
import type { Commit } from "../deployments/store.ts";
import type { ApplicationRow } from "../store.ts";

/** The newest commit of a branch, after a fetch. @throws PublicError with the reason of git. */
export async function fetchSource(
  { repositories }: KindContext,
  { id, repository: source }: ApplicationRow,
  branch: string,
): Promise<Commit> {
  const repository = await repositories.of(id);
  const hash = await repository.fetch({ url: source?.url ?? "", branch, deployKey: null });
  const { message, author } = await repository.facts(hash);
  return { hash, message, author: author.name };
}
