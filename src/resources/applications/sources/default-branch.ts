// The default branch of a repository elsewhere, which its server names at the first deployment.
import type { KindContext } from "../../kind.ts";
import { writeBranch, type DeploymentRow } from "../deployments/store.ts";
import { lockWithApplication } from "../environments/lock.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import { writeDefaultBranch, type ApplicationRow } from "../store.ts";
import { branchesOfSource } from "./fetch.ts";

/** A deployment without a commit so far, and what it belongs to. */
interface BranchParts {
  application: ApplicationRow;
  environment: EnvironmentRow;
  deployment: DeploymentRow;
}

/**
 * The branch that a deployment fetches: that of its environment. An environment that never served, of a branch that the
 * repository does not have, takes the default branch over: `main` was an assumption.
 * @throws PublicError when the server of the repository does not answer, or when the signal is aborted.
 */
export async function branchOf(
  context: KindContext,
  { application, environment, deployment }: BranchParts,
  signal: AbortSignal,
): Promise<string> {
  const { repository } = application;
  const { branch } = deployment;
  if (repository === null || repository.isBranchKnown === true) return branch;
  const { defaultBranch, hasBranch } = await branchesOfSource(context, application, branch, signal);
  if (defaultBranch === null) return branch;
  const isAssumed = !hasBranch && environment.currentDeploymentId === null;
  const { organizationId, id } = environment;
  await context.db.begin(async (tx) => {
    if ((await lockWithApplication(tx, organizationId, id)) === undefined) return;
    await writeDefaultBranch(tx, application.id, { url: repository.url, defaultBranch });
    if (isAssumed) await writeBranch(tx, deployment, defaultBranch);
  });
  return isAssumed ? defaultBranch : branch;
}
