// Follows a deployment to its end, with the output of its steps.
import { type DeploymentDocument, type DeploymentStatus, PilviError } from "../../sdk/index.ts";
import { givenUp, readPatiently } from "../absence.ts";
import { CommandError } from "../failure.ts";
import { Progress } from "../progress.ts";
import { jsonText, type Session } from "../session.ts";
import { settingHint } from "./setting-hint.ts";
import { durationText, StepPrinter } from "./steps.ts";
import type { Target } from "./target.ts";

const ENDS: ReadonlySet<DeploymentStatus> = new Set([
  "deployment.succeeded",
  "deployment.failed",
  "build.failed",
  "failed",
  "cancelled",
]);

/** A rollback takes less than a second; a build takes minutes, whose followers keep below the rate limit. */
const [FIRST_PAUSE_MS, PAUSE_MS, QUICK_READINGS] = [200, 1000, 10];

/** How the end of a deployment is printed. */
export interface FollowOptions {
  /** False with `--no-wait`: the deployment is only begun. */
  wait?: boolean;
  json?: true;
}

/** Whether a deployment with this status has ended. */
export function hasEnded(status: DeploymentStatus): boolean {
  return ENDS.has(status);
}

/**
 * Prints a new deployment: its end or, without waiting, how it began.
 * @throws CommandError when it fails, or with the exit code 130 on Ctrl-C.
 */
export async function finishDeployment(
  session: Session,
  target: Target,
  begun: DeploymentDocument,
  { wait, json }: FollowOptions,
): Promise<void> {
  const { io } = session;
  const { id } = begun.data;
  if (wait === false) {
    io.out(json === true ? jsonText(begun) : `${id}\n`);
    io.err(`The deployment goes on. Follow it with: pilvi deployments ${id} --follow\n`);
    return;
  }
  const startMs = io.nowMs();
  const ended = await follow(session, target, begun, json !== true);
  // Printed also after a failure, so that a program learns the id of the deployment.
  if (json === true) io.out(jsonText(ended));
  const failure = failureOf(ended);
  if (failure !== undefined) {
    const hint = settingHint(ended.data.attributes.failure_reason ?? "", target);
    throw hint === "" ? failure : new CommandError(failure.message + hint);
  }
  if (json === true) return;
  for (const note of notesOf(ended)) io.err(`Note: ${note}\n`);
  io.err(`Deployed in ${durationText(io.nowMs() - startMs)}.\n`);
  const { data } = await readPatiently(io, () => target.environments.get(target.environment.id), {});
  io.out(`${data.meta.url}\n`);
}

/**
 * Waits until a deployment has ended, also over an absence of Pilvi.
 * @throws CommandError when it cannot be followed to its end, with the exit code 130 on Ctrl-C.
 */
async function follow(
  { io }: Session,
  { environments, environment }: Target,
  begun: DeploymentDocument,
  isShown: boolean,
): Promise<DeploymentDocument> {
  const { id } = begun.data;
  const deployments = environments.deployments(environment.id);
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const forget = io.onInterrupt(() => interrupt.abort());
  const progress = new Progress(io, "the deployment", {
    status: begun.data.attributes.status,
    lastError: null,
  });
  const printer = new StepPrinter((text) => {
    if (io.isErrTerminal) io.redraw("");
    io.err(text);
  });
  const patience = { signal, onAbsence: (error: Error) => progress.away(error) };
  const afterwards = `The deployment goes on. Follow it with: pilvi deployments ${id} --follow`;
  try {
    for (let readings = 0; ; readings++) {
      const log = await readPatiently(io, () => deployments.logs(id, { signal }), patience);
      if (isShown) printer.show(log);
      const { deployment_status: status } = log.meta;
      if (hasEnded(status)) {
        const get = () => deployments.get(id, { include: ["environment"], signal });
        return await readPatiently(io, get, patience);
      }
      progress.update({ status, lastError: null });
      await io.pause(readings < QUICK_READINGS ? FIRST_PAUSE_MS : PAUSE_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw isGone(error) ? error : givenUp(error, afterwards);
    throw new CommandError(
      `Interrupted. ${afterwards}\nEnd it, and the environment with it, with: pilvi stop`,
      130,
    );
  } finally {
    progress.end();
    // A second Ctrl-C must not cut off the message about the first.
    if (!signal.aborted) forget();
  }
}

/** What the plan of a build says beside its parts; a rollback has said it before. */
function notesOf({ data: { meta } }: DeploymentDocument): string[] {
  const notes: unknown = meta.release_of === null ? meta.plan?.["notes"] : [];
  return Array.isArray(notes) ? notes.filter((note) => typeof note === "string") : [];
}

/** Whether the environment was deleted with its deployments, none of which goes on. */
function isGone(error: unknown): boolean {
  return error instanceof PilviError && error.status === 404;
}

/** Why a deployment did not succeed, with the last lines of what failed; undefined when it did. */
export function failureOf({ data: { id, attributes } }: DeploymentDocument): CommandError | undefined {
  const { status, failure_reason: reason } = attributes;
  if (status === "deployment.succeeded") return undefined;
  if (status === "cancelled") return new CommandError(`The deployment ${id} was cancelled.`);
  const detail = status === "failed" ? "" : ` (${status})`;
  return new CommandError(`The deployment failed${detail}.${reason === null ? "" : `\n${reason}`}`);
}
