// Finds, fetches and notes the commit of a deployment. The server of its repository may take minutes
// to answer, which nobody waits for after a cancel.
import type { Database } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { watchObsolete } from "../../shared/obsolescence-watch.ts";
import { commitOf, fetchedCommit } from "../sources/commit.ts";
import { branchOf } from "../sources/default-branch.ts";
import type { DeploymentParts } from "./reconciler.ts";
import { isEnd } from "./schema.ts";
import { loadDeployment, writeCommit, type Commit } from "./store.ts";

/**
 * The commit of a deployment, fetched and noted where that was not done or where its files are gone again.
 * @returns `cancelled` when the deployment has ended meanwhile.
 * @throws PublicError as `noteCommit`.
 */
export async function ensureCommit(
  context: KindContext,
  parts: DeploymentParts,
  signal: AbortSignal,
): Promise<Commit | "cancelled"> {
  const { commit } = parts.deployment;
  const isThere = commit !== null && commit.message !== null && (await isKept(context, parts, commit));
  return isThere ? commit : await noteCommit(context, parts, signal);
}

/** The copy of a repository elsewhere keeps only what was fetched of late. */
async function isKept(
  { repositories }: KindContext,
  { application }: DeploymentParts,
  { hash }: Commit,
): Promise<boolean> {
  if (application.repository === null) return true;
  return (await (await repositories.of(application.id)).resolve(hash)) !== null;
}

/**
 * The newest commit of the environment of a deployment, or the commit that it was asked for.
 * @returns `cancelled` when the deployment has ended meanwhile.
 * @throws PublicError when the branch has no such commit, or its server does not answer.
 */
async function noteCommit(
  context: KindContext,
  parts: DeploymentParts,
  signal: AbortSignal,
): Promise<Commit | "cancelled"> {
  const { db } = context;
  const { id } = parts.deployment;
  const watch = watchObsolete(() => hasEnded(db, id), signal);
  const ends = AbortSignal.any([signal, watch.obsolete]);
  try {
    const branch = await branchOf(context, parts, ends);
    const name = parts.deployment.commit?.hash;
    const { application, environment } = parts;
    const commit =
      name === undefined
        ? await commitOf(context, application, { id: environment.id, branch }, ends)
        : await fetchedCommit(context, { application, branch }, name, { signal: ends });
    await writeCommit(db, id, commit);
    return commit;
  } catch (error) {
    if (watch.obsolete.aborted) return "cancelled";
    throw error;
  } finally {
    watch.end();
  }
}

/** Whether a deployment was cancelled, or deleted with its environment. */
async function hasEnded(db: Database, id: string): Promise<boolean> {
  const deployment = await loadDeployment(db, id);
  return deployment === undefined || isEnd(deployment.status);
}
