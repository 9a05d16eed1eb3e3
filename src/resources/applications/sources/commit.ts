// The commit that an environment deploys when none is named.
import { PublicError } from "../../../lib/errors.ts";
import type { KindContext } from "../../kind.ts";
import type { Commit } from "../deployments/store.ts";
import type { ApplicationRow } from "../store.ts";
import { fetchSource } from "./fetch.ts";

/**
 * The newest commit of a branch: fetched where the application has a repository elsewhere.
 * @throws PublicError when there is none.
 */
export async function commitOf(
  context: KindContext,
  application: ApplicationRow,
  branch: string,
): Promise<Commit> {
  if (application.repository !== null) return await fetchSource(context, application, branch);
  const repository = await context.repositories.of(application.id);
  const hash = await repository.resolve(`refs/heads/${branch}`);
  if (hash === null) throw new PublicError(`Nothing was pushed or uploaded to the branch ${branch} yet.`);
  const { message, author } = await repository.facts(hash);
  return { hash, message, author: author.name };
}
