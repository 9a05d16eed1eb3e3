// The commits of an application: the newest of an environment, and a commit that a request names.
import { invalid } from "../../../api/jsonapi/errors.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { Repository } from "../../../sources/repository.ts";
import type { KindContext } from "../../kind.ts";
import type { Commit } from "../deployments/store.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import type { ApplicationRow } from "../store.ts";
import { deployedUploads } from "./deployed-uploads.ts";
import { fetchSource } from "./fetch.ts";
import { readCommit } from "./read-commit.ts";

/**
 * The newest commit of an environment: of what was pushed to its branch and uploaded to it, whichever came last. It is
 * fetched where the application has a repository elsewhere.
 * @throws PublicError when there is no commit, or when the signal is aborted.
 */
export async function commitOf(
  context: KindContext,
  application: ApplicationRow,
  environment: Pick<EnvironmentRow, "id" | "branch">,
  signal: AbortSignal,
): Promise<Commit> {
  const { branch } = environment;
  if (application.repository !== null) return await fetchSource(context, application, branch, { signal });
  const repository = await context.repositories.of(application.id);
  const hash = await newestIn(context, repository, environment);
  if (hash === null) throw new PublicError(`Nothing was pushed or uploaded to the branch ${branch} yet.`);
  return await readCommit(repository, hash);
}

/** As long as the branch has the tip that it had at an upload, no push came after that. */
async function newestIn(
  { db }: KindContext,
  repository: Repository,
  { id, branch }: Pick<EnvironmentRow, "id" | "branch">,
): Promise<string | null> {
  const tip = await repository.resolve(`refs/heads/${branch}`);
  const upload = (await deployedUploads(db, await repository.uploads(id))).at(-1);
  return upload !== undefined && (tip === null || tip === upload.base) ? upload.hash : tip;
}

/** What a named commit is looked for in. */
type CommitPlace = { application: ApplicationRow; branch: string };

/**
 * The commit of a branch or of an upload with a hash, which may be shortened. A commit of a repository elsewhere that was not fetched has
 * no message: whether the branch has it shows when its deployment fetches it.
 * @throws ApiError 422 when there is no such commit.
 */
export async function namedCommit(
  { repositories }: KindContext,
  { application, branch }: CommitPlace,
  name: string,
): Promise<Commit> {
  const repository = await repositories.of(application.id);
  const hash = (await repository.commitOn(branch, name)) ?? (await uploadNamed(repository, name));
  if (hash !== null) return await readCommit(repository, hash);
  if (application.repository !== null) return { hash: name, message: null, author: null };
  throw invalid({
    commit_hash: [`Neither the branch ${branch} nor an upload that is kept has the commit ${name}.`],
  });
}

/** The whole hash of an upload to any environment of the application; null when none or several begin like this. */
async function uploadNamed(repository: Repository, name: string): Promise<string | null> {
  const hashes = new Set((await repository.uploads()).map(({ hash }) => hash));
  const [hash = null, ...others] = [...hashes].filter((each) => each.startsWith(name));
  return others.length === 0 ? hash : null;
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
