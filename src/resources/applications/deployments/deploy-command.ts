// The deploy command of a deployment: it runs once in the new release, before the new process starts.
import type { BuildSpec } from "../../../contracts/builds.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { PublicError } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { secretNames } from "../environments/all-variables.ts";
import { commandRuntime, releaseOf, type UnplacedSpec } from "../environments/spec.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import { BUILD_LIMITS, commandOf, failureText, followBuild } from "./build.ts";
import { latestEndedDeploymentId, writeSteps, type DeploymentRow, type RolloutStep } from "./store.ts";

/** The id of the run in the release of a deployment. */
export function deployCommandId(deploymentId: string): string {
  return `${deploymentId}-deploy`;
}

/** A deployment whose release is there, with what its deploy command runs with. */
interface DeployCommandParts {
  environment: EnvironmentRow;
  deployment: DeploymentRow;
  spec: UnplacedSpec;
}

/**
 * Runs the deploy command of a deployment once; what a kill of its host has cut off counts as failed, since nobody knows
 * how far it came.
 * @throws PublicError with its last lines when it fails.
 */
export async function ensureDeployCommandRan(
  context: KindContext,
  host: ServedHost,
  parts: DeployCommandParts,
  signal: AbortSignal,
): Promise<void> {
  const { db } = context;
  const { deployment } = parts;
  const { plan, steps } = deployment;
  const [known] = steps;
  if (plan === null || known?.status === "finished" || known?.status === "skipped") return;
  const startedAt = known?.startedAt ?? new Date().toISOString();
  if (plan.deploy.commands.length === 0)
    return await writeSteps(db, deployment.id, [{ ...SKIPPED, startedAt }]);
  const step = { step: "deploy.command", description: plan.deploy.commands.join("\n"), startedAt };
  if (known === undefined) await writeSteps(db, deployment.id, [{ ...step, status: "running" }]);
  // A step that is noted as failed has its reason on the host alone.
  const ended = await run(context, host, { ...parts, plan }, signal);
  const durationMs = known?.durationMs ?? Date.now() - Date.parse(startedAt);
  await writeSteps(db, deployment.id, [{ ...step, status: ended.status, durationMs }]);
  await failpoint("deployment.command.noted");
  if (ended.status === "failed") throw new PublicError(ended.reason);
}

const SKIPPED: Omit<RolloutStep, "startedAt"> = {
  step: "deploy.command",
  status: "skipped",
  description: "No deploy command was provided",
};

/** Ends the deploy command of the latest deployment of an environment, which may have been cut off. */
export async function cancelDeployCommand(
  { db }: KindContext,
  { driver }: ServedHost,
  { id: environmentId }: EnvironmentRow,
): Promise<void> {
  const latest = await latestEndedDeploymentId(db, environmentId);
  if (latest === undefined) return;
  const command = await driver.observeBuild(deployCommandId(latest));
  if (command !== null && command.endedAt === null) await driver.cancelBuild(command.id);
}

type Ended = { status: "finished" } | { status: "failed"; reason: string };

async function run(
  context: KindContext,
  host: ServedHost,
  { deployment, environment, plan, spec }: DeployCommandParts & { plan: Plan },
  signal: AbortSignal,
): Promise<Ended> {
  const id = deployCommandId(deployment.id);
  const order: BuildSpec = {
    id,
    environment: environment.id,
    organization: environment.familyId,
    release: releaseOf(deployment),
    runtime: commandRuntime(plan),
    steps: [{ name: "deploy", command: commandOf(plan.deploy, plan) }],
    variables: spec.variables,
    ...(spec.reaches && { reaches: spec.reaches }),
    secrets: secretNames(context, environment, spec.variables),
    ...BUILD_LIMITS,
  };
  if ((await host.driver.observeBuild(id)) === null) await host.driver.build(order, null, signal);
  await failpoint("deployment.commanded");
  const followed = { id, deployment, host, running: "deployment.running" as const };
  const { build, output } = await followBuild(context, followed, signal);
  if (build.state === "succeeded") return { status: "finished" };
  return { status: "failed", reason: failureText("The deploy command failed.", build, output) };
}
