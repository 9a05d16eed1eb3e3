// The log of a deployment: the steps of its build with their output, which the host keeps, and those of its rollout.
import { lineText, type Build, type BuildLogLine, type BuildStep } from "../../../contracts/builds.ts";
import { ApiError } from "../../../api/jsonapi/errors.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { deployCommandId } from "./deploy-command.ts";
import { isEnd, type DeploymentLog } from "./schema.ts";
import type { DeploymentRow, RolloutStep } from "./store.ts";

/** How long logs are kept. */
const KEPT_MS = 365 * 24 * 3_600_000;

/** The most lines of one answer; the host keeps less of each step. */
const MAX_LINES = 100_000;

type Step = DeploymentLog["data"]["build"]["steps"][number];

/** @throws ApiError 422 for a deployment of more than a year ago. */
export async function readLog(
  { hosts }: KindContext,
  deployment: DeploymentRow & { hostId: string },
  signal: AbortSignal,
): Promise<DeploymentLog> {
  if (Date.now() - Date.parse(deployment.createdAt) > KEPT_MS) {
    throw new ApiError(
      422,
      "Deployment logs are only available for deployments created within the last year.",
    );
  }
  const { driver } = hosts.of(deployment.hostId);
  const build = await driver.observeBuild(deployment.id);
  const lines = build === null ? [] : await linesOf(driver, build.id, signal);
  const command =
    deployment.steps.length === 0 ? null : await driver.observeBuild(deployCommandId(deployment.id));
  const output = command === null ? undefined : textOf(await linesOf(driver, command.id, signal));
  return {
    data: {
      build: { available: build !== null, steps: build === null ? [] : buildSteps(deployment, build, lines) },
      deploy: {
        available: deployment.steps.length > 0,
        steps: deployment.steps.map((step) => rolloutStep(deployment, step, output)),
      },
    },
    meta: { deployment_status: deployment.status },
  };
}

async function linesOf(
  driver: ServedHost["driver"],
  id: string,
  signal: AbortSignal,
): Promise<BuildLogLine[]> {
  const lines: BuildLogLine[] = [];
  for (let after = 0; lines.length < MAX_LINES;) {
    const slice = await driver.buildLog(id, { after }, signal);
    if (slice.lines.length === 0) break;
    lines.push(...slice.lines);
    after = slice.next;
  }
  return lines;
}

function buildSteps(deployment: DeploymentRow, build: Build, lines: BuildLogLine[]): Step[] {
  return build.steps.map((step) => ({
    step: step.name,
    status: statusOf(step, build),
    description: descriptionOf(step.name, deployment),
    output:
      (step.name === "source" ? notesText(deployment) : "") +
      textOf(lines.filter((line) => line.step === step.name)),
    ...timesOf(deployment, step.startedAt, durationOf(step)),
  }));
}

/** What the plan leaves out, such as submodules, a line each. */
export function notesText({ plan }: Pick<DeploymentRow, "plan">): string {
  return (plan?.notes ?? []).map((note) => `Note: ${note}\n`).join("");
}

/** The status of a step whose end was not noted, by the state of its build. */
const WITHOUT_END: Record<Build["state"], Step["status"]> = {
  queued: "running",
  running: "running",
  succeeded: "finished",
  failed: "failed",
  cancelled: "cancelled",
};

function statusOf({ endedAt, exitCode }: BuildStep, { state }: Build): Step["status"] {
  if (endedAt === null) return WITHOUT_END[state];
  if (exitCode === 0) return "finished";
  return exitCode === null && state === "cancelled" ? "cancelled" : "failed";
}

function descriptionOf(name: string, { plan }: DeploymentRow): string {
  if (name === "install" || name === "build") return plan?.[name].commands.join("\n") ?? name;
  if (name === "source") return "The files of the commit are brought to the host.";
  return "The built files become a release, which nothing changes any more.";
}

function durationOf({ startedAt, endedAt }: BuildStep): number | undefined {
  return endedAt === null ? undefined : Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
}

function textOf(lines: readonly BuildLogLine[]): string {
  return lines.map(lineText).join("");
}

function rolloutStep(
  deployment: DeploymentRow,
  { startedAt, durationMs, status, ...step }: RolloutStep,
  output: string | undefined,
): Step {
  return {
    ...step,
    status: status === "running" && isEnd(deployment.status) ? endedStatus(deployment) : status,
    ...(output !== undefined && { output }),
    ...timesOf(deployment, startedAt, durationMs),
  };
}

/** The end of a step whose deployment ended first. */
function endedStatus({ status }: DeploymentRow): Step["status"] {
  return status === "cancelled" ? "cancelled" : "failed";
}

/** The time since the beginning of the deployment, as `00:00:35`, and the duration. */
function timesOf(
  { startedAt: beginning }: DeploymentRow,
  startedAt: string,
  durationMs: number | undefined,
): Pick<Step, "time" | "duration_ms"> {
  const seconds = Math.max(
    0,
    Math.floor((Date.parse(startedAt) - Date.parse(beginning ?? startedAt)) / 1_000),
  );
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const time = [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return { time, ...(durationMs !== undefined && { duration_ms: durationMs }) };
}
