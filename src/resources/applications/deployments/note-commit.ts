// Finds and notes the commit of a deployment that was asked for without one. The server of its repository may take minutes
// to answer, which nobody waits for after a cancel.
import type { Database } from "../../../store/database.ts";
import type { KindContext } from "../../kind.ts";
import { watchObsolete } from "../../shared/obsolescence-watch.ts";
import { commitOf } from "../sources/commit.ts";
import { branchOf } from "../sources/default-branch.ts";
import type { DeploymentParts } from "./reconciler.ts";
import { isEnd } from "./schema.ts";
import { loadDeployment, writeCommit, type Commit } from "./store.ts";

/**
 * The newest commit of the branch of a deployment.
 * @returns `cancelled` when the deployment has ended meanwhile.
 * @throws PublicError when the branch has no commit, or its server does not answer.
 */
export async function noteCommit(
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
    const commit = await commitOf(context, parts.application, branch, ends);
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
