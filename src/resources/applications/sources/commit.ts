// The commits of an application: the newest of a branch, and a commit that a request names.
import { invalid } from "../../../api/jsonapi/errors.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { KindContext } from "../../kind.ts";
import type { Commit } from "../deployments/store.ts";
import type { ApplicationRow } from "../store.ts";
import { fetchSource } from "./fetch.ts";
import { readCommit } from "./read-commit.ts";

/**
 * The newest commit of a branch: fetched where the application has a repository elsewhere.
 * @throws PublicError when the branch has no commit, or when the signal is aborted.
 */
export async function commitOf(
  context: KindContext,
  application: ApplicationRow,
  branch: string,
  signal: AbortSignal,
): Promise<Commit> {
  if (application.repository !== null) return await fetchSource(context, application, branch, { signal });
  const repository = await context.repositories.of(application.id);
  const hash = await repository.resolve(`refs/heads/${branch}`);
  if (hash === null) throw new PublicError(`Nothing was pushed or uploaded to the branch ${branch} yet.`);
  return await readCommit(repository, hash);
}

/** What a named commit is looked for in. */
type CommitPlace = { application: ApplicationRow; branch: string };

/**
 * The commit of a branch with a hash, which may be shortened. A commit of a repository elsewhere that was not fetched has
 * no message: whether the branch has it shows when its deployment fetches it.
 * @throws ApiError 422 when the branch has no such commit.
 */
export async function namedCommit(
  { repositories }: KindContext,
  { application, branch }: CommitPlace,
  name: string,
): Promise<Commit> {
  const repository = await repositories.of(application.id);
  const hash = await repository.commitOn(branch, name);
  if (hash !== null) return await readCommit(repository, hash);
  if (application.repository !== null) return { hash: name, message: null, author: null };
  throw invalid({ commit_hash: [`The branch ${branch} has no commit ${name}.`] });
}

/**
 * The same commit, fetched where that is needed.
 * @throws PublicError when the branch has no such commit, or when the signal is aborted.
 */
export async function fetchedCommit(
  context: KindContext,
  place: CommitPlace,
  name: string,
  options: { deadlineMs?: number; signal: AbortSignal },
): Promise<Commit> {
  const { application, branch } = place;
  const commit = await namedCommit(context, place, name);
  if (commit.message !== null) return commit;
  return await fetchSource(context, application, branch, { commit: name, ...options });
}
