// Fetches the commits of an application whose repository is elsewhere.
import { PublicError } from "../../../lib/errors.ts";
import type { FetchSource, RemoteBranches } from "../../../sources/fetch.ts";
import { withoutCredentials } from "../../../sources/git.ts";
import type { KindContext } from "../../kind.ts";
import type { Commit } from "../deployments/store.ts";
import { recordRepository } from "../storage.ts";
import type { ApplicationRow } from "../store.ts";
import { privateKeyOf } from "./deploy-key.ts";
import { openLogin } from "./repository-login.ts";
import { readCommit } from "./read-commit.ts";

/** The end of a fetch that a reader waits for, or that takes as long as its repository needs. */
interface FetchOptions {
  /** The hash of the commit to fetch, which may be shortened; the newest of the branch when left out. */
  commit?: string;
  deadlineMs?: number;
  signal?: AbortSignal;
}

/**
 * The newest commit of a branch or a named commit, after a fetch.
 * @throws PublicError with the reason of git, without the credentials in the address.
 */
export async function fetchSource(
  context: KindContext,
  application: ApplicationRow,
  branch: string,
  { commit, signal, ...deadline }: FetchOptions = {},
): Promise<Commit> {
  const { repositories, log } = context;
  const { id } = application;
  await repositories.refuseFullDisk();
  const repository = await repositories.of(id);
  const source = { ...sourceOf(context, application, branch), ...deadline };
  const hash =
    commit === undefined
      ? await repository.fetch(source, signal)
      : await repository.fetchCommit(source, commit, signal);
  repository.tidy().catch((error: unknown) => log.warn({ error, id }, "a repository could not be packed"));
  await recordRepository(context, id);
  return await readCommit(repository, hash);
}

/**
 * What the server of an application's repository says of its branches.
 * @throws PublicError as `fetchSource` does.
 */
export async function branchesOfSource(
  context: KindContext,
  application: ApplicationRow,
  branch: string,
  signal: AbortSignal,
): Promise<RemoteBranches> {
  const repository = await context.repositories.of(application.id);
  return await repository.remoteBranches(sourceOf(context, application, branch), signal);
}

function sourceOf(
  { repositories, vault }: KindContext,
  application: ApplicationRow,
  branch: string,
): FetchSource {
  const { repository } = application;
  if (repository === null) throw new PublicError("The application has no repository to fetch from.");
  const { url } = repository;
  const [deployKey, login] = [privateKeyOf(vault, application), openLogin(vault, application)];
  return { url, branch, deployKey, login, mayReachItself: repositories.mayBeLocal(url) };
}

/** The refusal of a push or an upload to an application with a repository elsewhere. */
export function fetchedFrom({ url }: { url: string }): string {
  return `The commits of this application come from ${withoutCredentials(url)}; push there, and deploy.`;
}
