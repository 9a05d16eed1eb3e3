// Makes the release of a deployment: its commit, its plan, its build. The reconciler of environments then rolls it out.
import { isFault, PublicError } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { storageExcess } from "../../shared/quotas.ts";
import { loadEnvironment, type EnvironmentRow } from "../environments/store.ts";
import { loadApplication, type ApplicationRow } from "../store.ts";
import { planOfCommit } from "../sources/plan.ts";
import { enqueueDeployment, enqueueEnvironment } from "../work.ts";
import { deployCommandId } from "./deploy-command.ts";
import { ensureBuilt } from "./build.ts";
import { endDeployment } from "./end.ts";
import { ensureCommit } from "./note-commit.ts";
import { isEnd } from "./schema.ts";
import {
  buildsAhead,
  loadDeployment,
  openDeployment,
  writeDeploymentStatus,
  writePlan,
  type DeploymentRow,
} from "./store.ts";

/** How many deployments of organizations that share quotas are built at once; others leave room for those of others. */
const MAX_BUILDS_OF_FAMILY = 16;

/** The pause before a deployment looks again whether it is its turn. */
const TURN_MS = 2_000;

/** The pause before a deployment that waits for another looks again by itself. */
const WAITING_MS = 5_000;

/** The pause before a release that is in use is removed. */
const IN_USE_MS = 1_000;

/** A deployment, and what it belongs to. */
export interface DeploymentParts {
  application: ApplicationRow;
  environment: EnvironmentRow;
  deployment: DeploymentRow;
  host: ServedHost;
}

/** The reconciler of deployments. */
export function reconcileDeployment(context: KindContext): Reconcile {
  const { db, hosts } = context;
  return async (id, signal) => {
    const deployment = await loadDeployment(db, id);
    const environment = deployment && (await loadEnvironment(db, deployment.environmentId));
    const application = environment && (await loadApplication(db, environment.applicationId));
    if (deployment === undefined || environment === undefined || application === undefined)
      return { result: "gone" };
    const parts = { application, environment, deployment, host: hosts.of(environment.hostId) };
    if (isEnd(deployment.status)) return await endBuild(parts);
    if (deployment.status.startsWith("deployment.")) return { result: "gone" };
    if ((await openDeployment(db, environment.id))?.id !== id) return waitingOutcome();
    if ((await buildsAhead(db, environment.familyId, id)) >= MAX_BUILDS_OF_FAMILY)
      return { result: { settled: false, retryMs: TURN_MS, lastError: null } };
    try {
      return await makeRelease(context, parts, signal);
    } catch (error) {
      // A host that is away, or that is behind with other builds, is no fault of the deployment.
      if (!isFault(error) || signal.aborted) throw error;
      return failedOutcome(deployment, error.message);
    }
  };
}

async function makeRelease(
  context: KindContext,
  parts: DeploymentParts,
  signal: AbortSignal,
): Promise<Outcome> {
  const { db } = context;
  const { deployment, host } = parts;
  const { id, releaseOf } = deployment;
  await writeDeploymentStatus(db, id, "build.pending");
  if (releaseOf !== null) {
    await ensureReleaseIsThere(context, parts, releaseOf);
    return readyToRollOut(parts);
  }
  const isOrdered = !(await isNew(parts));
  if (!isOrdered) await refuseFull(context, parts);
  const known = isOrdered && deployment.plan !== null ? deployment.commit : null;
  const commit = known ?? (await ensureCommit(context, parts, signal));
  if (commit === "cancelled") return await endBuild(parts);
  const plan =
    deployment.plan ??
    (await planOfCommit(context, environmentAtBeginning(parts), parts.application, commit.hash));
  if (deployment.plan === null) await writePlan(db, id, plan);
  await failpoint("deployment.planned");
  const build = await ensureBuilt(context, { ...parts, commit, plan }, signal);
  await failpoint("deployment.built");
  if (build === "cancelled") return await endBuild(parts);
  if (build !== "succeeded") return failedOutcome(deployment, build.reason, "build.failed");
  if ((await host.driver.release(id)) === null)
    throw new PublicError("The release of the build is lost, as after a power cut. Deploy its commit again.");
  return readyToRollOut(parts);
}

/** Whether its build was not ordered so far; a build that was begun is followed to its end. */
async function isNew({ deployment, host }: DeploymentParts): Promise<boolean> {
  return (await host.driver.observeBuild(deployment.id)) === null;
}

/** @throws PublicError when the organization has more on the disk than it may. */
async function refuseFull({ db, quotas }: KindContext, { environment }: DeploymentParts): Promise<void> {
  const excess = await storageExcess(db, quotas, environment.organizationId);
  if (excess !== null) throw new PublicError(excess);
}

/** The environment with the settings of the beginning of the deployment. */
function environmentAtBeginning({ environment, deployment }: DeploymentParts): EnvironmentRow {
  return { ...environment, settings: deployment.settings };
}

async function ensureReleaseIsThere(
  { db }: KindContext,
  { deployment, host }: DeploymentParts,
  releaseOf: string,
): Promise<void> {
  const former = await loadDeployment(db, releaseOf);
  const plan = former?.plan ?? null;
  if (plan === null || (await host.driver.release(releaseOf)) === null)
    throw new PublicError("The release is no longer kept. Deploy its commit again.");
  if (deployment.plan === null) await writePlan(db, deployment.id, plan);
}

/** The release is there: the environment rolls it out. */
function readyToRollOut({ deployment, environment }: DeploymentParts): Outcome {
  return {
    result: "gone",
    write: async (tx) => {
      const isGoingOn = await writeDeploymentStatus(tx, deployment.id, "deployment.pending");
      if (isGoingOn) await enqueueEnvironment(tx, environment);
      // It was cancelled meanwhile, and the end of this run takes the work of that along.
      else await enqueueDeployment(tx, deployment.id, environment.hostId);
    },
  };
}

/**
 * The end of the deployment before has this one looked at again. It looks by itself as well, since a deployment whose
 * transaction ends at the same time is not seen by that end.
 */
function waitingOutcome(): Outcome {
  return { result: { settled: true, againAt: new Date(Date.now() + WAITING_MS) } };
}

function failedOutcome(
  deployment: DeploymentRow,
  reason: string,
  status: "build.failed" | "failed" = "failed",
): Outcome {
  return {
    result: "gone",
    write: async (tx) => void (await endDeployment(tx, deployment, { status, reason })),
  };
}

/** Nothing of a deployment that has ended goes on building, and a release that never served goes. */
async function endBuild({ deployment, host }: DeploymentParts): Promise<Outcome> {
  for (const id of [deployment.id, deployCommandId(deployment.id)]) {
    const build = await host.driver.observeBuild(id);
    // The order of an earlier control plane may still be coming to the host, which waits for it.
    if (build === null) await host.driver.removeBuild(id);
    else if (build.endedAt === null) await host.driver.cancelBuild(id);
  }
  const hasServed = deployment.status === "deployment.succeeded" || deployment.releaseOf !== null;
  if (hasServed) return { result: "gone" };
  try {
    await host.driver.removeRelease(deployment.id);
  } catch (error) {
    if (!isFault(error)) throw error;
    // A process or a command needs it, which ends.
    return { result: { settled: false, retryMs: IN_USE_MS, lastError: null } };
  }
  return { result: "gone" };
}
