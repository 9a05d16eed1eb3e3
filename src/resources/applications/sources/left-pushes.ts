// Deploys pushes that were not deployed at their end, since the control plane or its store was gone by then.
import { backoffMs } from "../../../lib/backoff.ts";
import { PublicError } from "../../../lib/errors.ts";
import { reportLeftPushes, type PushedBranch } from "../../../sources/push-reports.ts";
import type { Repository } from "../../../sources/repository.ts";
import type { KindContext } from "../../kind.ts";
import { beginUnasked } from "../deployments/begin-unasked.ts";
import { lockDeployable } from "../deployments/create.ts";
import { wasDeployedSince } from "../deployments/store.ts";
import { environmentsOf, type EnvironmentRow } from "../environments/store.ts";
import { loadApplication, type ApplicationRow } from "../store.ts";
import { passUploads } from "./passed-uploads.ts";
import { deployedBranches } from "./push.ts";
import { readCommit } from "./read-commit.ts";

/** The first and the longest pause before pushes are looked at again that go on, or that could not be deployed. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1_000, 60_000];

/** Deploys what an earlier control plane has left of all applications; resolves when nothing is left. */
export async function deployAllLeftPushes(context: KindContext, signal: AbortSignal): Promise<void> {
  let ids = await pushed(context);
  for (let attempt = 1; ids.length > 0 && !signal.aborted; attempt += 1) {
    if (attempt > 1) await Bun.sleep(backoffMs(attempt - 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS));
    const left: string[] = [];
    for (const id of ids) if (!(await isDone(context, id))) left.push(id);
    ids = left;
  }
}

async function pushed({ repositories, log }: KindContext): Promise<string[]> {
  return await repositories.pushed().catch((error: unknown) => {
    log.error({ error }, "pushes that were cut off could not be found");
    return [];
  });
}

async function isDone(context: KindContext, applicationId: string): Promise<boolean> {
  try {
    const application = await loadApplication(context.db, applicationId);
    if (application === undefined) return true;
    return await deployLeftPushes(context, application, await context.repositories.of(applicationId));
  } catch (error) {
    context.log.warn({ error, id: applicationId }, "a push that was cut off could not be deployed yet");
    return false;
  }
}

/**
 * Deploys what is left of the pushes to an application, each push at most once.
 * @returns false while pushes go on that may be left.
 */
export async function deployLeftPushes(
  context: KindContext,
  application: ApplicationRow,
  repository: Repository,
): Promise<boolean> {
  const report = async (branches: PushedBranch[], since: string) => {
    // Its branches are those of a repository elsewhere by now.
    if (application.repository !== null) return;
    const environments = await environmentsOf(context.db, [application.id]);
    await passUploads(repository, branches, environments);
    for (const branch of branches)
      for (const environment of environments)
        if (isDeployedBy(environment, branch))
          await begin(context, repository, environment, { branch, since });
  };
  return await reportLeftPushes(repository, report, () => deployedBranches(context, application));
}

function isDeployedBy({ branch, settings }: EnvironmentRow, { name }: PushedBranch): boolean {
  return branch === name && settings.uses_push_to_deploy;
}

/** An environment that takes no deployment keeps no other from it. */
async function begin(
  { db, log }: KindContext,
  repository: Repository,
  { id, organizationId }: EnvironmentRow,
  { branch, since }: { branch: PushedBranch; since: string },
): Promise<void> {
  try {
    const commit = await readCommit(repository, branch.hash);
    await db.begin(async (tx) => {
      const environment = await lockDeployable(tx, organizationId, id);
      if (!isDeployedBy(environment, branch)) return;
      // The push came as far as this deployment before it was cut off, or somebody has deployed its commit since.
      if (await wasDeployedSince(tx, id, { commit: commit.hash, since })) return;
      await beginUnasked(tx, environment, commit);
    });
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    log.warn({ error, id }, "a push could not be deployed");
  }
}
