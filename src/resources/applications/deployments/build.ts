// Has a host build a release, and waits for its end.
import type { Build, BuildSpec } from "../../../contracts/builds.ts";
import type { Plan, PlannedCommands } from "../../../contracts/plan.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { lastLines } from "../../../lib/last-lines.ts";
import { storableText } from "../../../lib/storable.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { buildSecretNames, buildVariables } from "../environments/all-variables.ts";
import { buildRuntime, commandPrefix, servedFolder } from "../environments/spec.ts";
import type { DeploymentParts } from "./reconciler.ts";
import { isEnd, type DeploymentStatus } from "./schema.ts";
import { loadDeployment, writeDeploymentStatus, type Commit } from "./store.ts";

/** The bounds of every build, and of every command in a release. */
export const BUILD_LIMITS = {
  memoryBytes: 2 * 1024 ** 3,
  cpus: null,
  maxProcesses: 1_024,
  diskBytes: 4 * 1024 ** 3,
  deadlineSeconds: 15 * 60,
} as const;

/** How long the host holds a question about new output, at first and later; a cancel is noticed as soon. */
const [FIRST_WAIT_MS, WAIT_MS] = [100, 1_000];

/** How many of the last lines the reason of a failure has: enough for a message with a part of the code below it. */
const SHOWN_LINES = 20;

/** A deployment with its source. */
interface BuildParts extends DeploymentParts {
  commit: Commit;
  plan: Plan;
}

/**
 * Orders the build where the host does not have it yet, and follows it.
 * @throws Error when its host has ended meanwhile; the next run then orders it again.
 */
export async function ensureBuilt(
  context: KindContext,
  parts: BuildParts,
  signal: AbortSignal,
): Promise<"succeeded" | "cancelled" | { reason: string }> {
  const { deployment, host, application, commit } = parts;
  const { id } = deployment;
  const known = await host.driver.observeBuild(id);
  // The end of its host is no fault of the build.
  if (known?.failure?.code === "interrupted") await host.driver.removeBuild(id);
  if (known === null || known.failure?.code === "interrupted") {
    const repository = await context.repositories.of(application.id);
    await host.driver.build(specOf(context, parts), repository.archive(commit.hash), signal);
    await failpoint("deployment.ordered");
  }
  await writeDeploymentStatus(context.db, id, "build.queued");
  const { build, output } = await followBuild(context, { ...parts, id, running: "build.running" }, signal);
  if (build.failure?.code === "interrupted") throw new Error("the host ended while it built");
  if (build.state === "cancelled") return "cancelled";
  if (build.state === "succeeded") return "succeeded";
  return { reason: failureText("The build failed.", build, output) };
}

function specOf(context: KindContext, { environment, deployment, plan }: BuildParts): BuildSpec {
  const steps = [
    { name: "install", ...plan.install },
    { name: "build", ...plan.build },
  ].filter(({ commands }) => commands.length > 0);
  const served = servedFolder(plan);
  return {
    id: deployment.id,
    environment: environment.id,
    organization: environment.familyId,
    runtime: buildRuntime(plan),
    ...(served !== null && { served }),
    steps: steps.map(({ name, ...step }) => ({ name, command: commandOf(step, plan) })),
    variables: buildVariables(context, environment, plan),
    secrets: buildSecretNames(environment),
    ...BUILD_LIMITS,
  };
}

/** The lines of a step as one command of a shell, which ends at the first failure. */
export function commandOf({ commands, directory }: Omit<PlannedCommands, "origin">, { paths }: Plan): string {
  return [...commandPrefix(paths, directory), ...commands].join("\n");
}

/** A build of a deployment. */
interface FollowedBuild {
  id: string;
  deployment: { id: string };
  host: Pick<ServedHost, "driver">;
  /** The status of the deployment once it runs. */
  running: DeploymentStatus;
}

/**
 * Reads the output until the build has ended. A cancel of the deployment cancels the build.
 * @returns the build with the last lines of its output.
 */
export async function followBuild(
  { db }: KindContext,
  { id, deployment: { id: deploymentId }, host: { driver }, running }: FollowedBuild,
  signal: AbortSignal,
): Promise<{ build: Build; output: string[] }> {
  let [after, output, waitMs] = [0, [] as string[], FIRST_WAIT_MS];
  for (;;) {
    signal.throwIfAborted();
    const slice = await driver.buildLog(id, { after, waitMs }, signal);
    after = slice.next;
    output = lastLines([...output, ...slice.lines.map(({ text }) => text)], SHOWN_LINES);
    const build = await driver.observeBuild(id);
    if (build === null) return { build: await driver.cancelBuild(id), output };
    if (slice.isEnd) return { build, output };
    const deployment = await loadDeployment(db, deploymentId);
    if (deployment === undefined || isEnd(deployment.status))
      return { build: await driver.cancelBuild(id), output };
    if (build.state !== "running") continue;
    waitMs = WAIT_MS;
    if (deployment.status !== running) await writeDeploymentStatus(db, deploymentId, running);
  }
}

/** A sentence about a run that has failed, with its last lines. */
export function failureText(sentence: string, { failure }: Pick<Build, "failure">, lines: string[]): string {
  const message = failure?.message ?? sentence;
  // The host ends the output with the same sentence.
  return storableText([message, ...lines.filter((line) => line !== message)].join("\n"));
}
