// The commits of an application: the newest of a branch, and a commit that a request names.
import { invalid } from "../../../api/jsonapi/errors.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { Repository } from "../../../sources/repository.ts";
import { SourceRefusal } from "../../../sources/faults.ts";
import type { KindContext } from "../../kind.ts";
import type { Commit } from "../deployments/store.ts";
import type { EnvironmentRow } from "../environments/store.ts";
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

/**
 * The commit of an environment's branch with a hash, which may be shortened.
 * @throws ApiError 422 when the branch has no such commit.
 */
export async function namedCommit(
  { repositories }: KindContext,
  { applicationId, branch }: Pick<EnvironmentRow, "applicationId" | "branch">,
  name: string,
): Promise<Commit> {
  const repository = await repositories.of(applicationId);
  const hash = await repository.resolve(name);
  if (hash === null || !(await isIn(repository, branch, hash)))
    throw invalid({ commit_hash: [`The branch ${branch} has no commit ${name}.`] });
  return await readCommit(repository, hash);
}

async function isIn(repository: Repository, branch: string, hash: string): Promise<boolean> {
  return await repository.contains(branch, hash).catch((error: unknown) => {
    if (error instanceof SourceRefusal) return false;
    throw error;
  });
}
