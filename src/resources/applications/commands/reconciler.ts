// Runs a command in a release of its environment, once: what a kill of its host has cut off counts as failed, since
// nobody knows how far it came.
import type { Runtime } from "../../../contracts/application.ts";
import type { Build, BuildSpec } from "../../../contracts/builds.ts";
import type { Plan } from "../../../contracts/plan.ts";
import { BusyError, isFault } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { recordEvent } from "../../shared/events/record.ts";
import { BUILD_LIMITS, commandOf } from "../deployments/build.ts";
import { loadDeployment, type DeploymentRow } from "../deployments/store.ts";
import { runVariables, secretNames } from "../environments/all-variables.ts";
import { attachedInstances } from "../environments/attached-instances.ts";
import { commandRuntime, releaseOf } from "../environments/spec.ts";
import { loadEnvironment, type EnvironmentRow } from "../environments/store.ts";
import { DEFAULT_SIZE, sizeNamed } from "../instances/sizes.ts";
import { servingInstance } from "../instances/store.ts";
import { commandResourceOf } from "./create.ts";
import { COMMAND_STEP, outputEnd } from "./output.ts";
import {
  commandIds,
  eraseCommand,
  loadCommand,
  writeCommandEnd,
  writeCommandStatus,
  type CommandEnd,
  type CommandRow,
} from "./store.ts";

/** How long a command may take. */
const DEADLINE_SECONDS = 3_600;

/** How many commands of an environment are kept, with their output, and how many are removed in one run. */
const [KEPT, REMOVED_AT_ONCE] = [100, 20];

/** A host that is too busy for a command is asked again for so long. */
const ORDER_MS = 60_000;

/** The pause before a command is looked at again: a tenth of its age, between these. */
const [SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 1_000];

/** A command, and what it belongs to. */
interface Run {
  context: KindContext;
  host: ServedHost;
  environment: EnvironmentRow;
  command: CommandRow;
  signal: AbortSignal;
}

/** The reconciler of commands. */
export function reconcileCommand(context: KindContext): Reconcile {
  const { db, hosts } = context;
  return async (id, signal) => {
    const command = await loadCommand(db, id);
    const environment = command && (await loadEnvironment(db, command.environmentId));
    if (command === undefined || environment === undefined) return { result: "gone" };
    const run = { context, host: hosts.of(command.hostId), environment, command, signal };
    if (command.finishedAt !== null) return await prune(run);
    // The removal of the environment ends the command itself.
    if (environment.status === "deleting") return { result: "gone" };
    const known = await run.host.driver.observeBuild(id);
    if (command.isCancelled) return await cancel(run, known);
    if (known !== null) return await follow(run, known);
    if (command.status === "command.running")
      return failed(run, "The host does not know the command any more, so nobody knows how far it came.");
    return await begin(run);
  };
}

async function begin(run: Run): Promise<Outcome> {
  const { context, host, command, signal } = run;
  const order = await orderOf(run);
  if ("fault" in order) return failed(run, order.fault);
  try {
    if ((await host.driver.release(order.release)) === null)
      return failed(run, "The release of the command is not kept any more. Run it again.");
    await writeCommandStatus(context.db, command.id, "command.created");
    // The host takes an order of the same id once.
    await host.driver.build(order, null, signal);
  } catch (error) {
    const isEnd = isFault(error) || error instanceof BusyError;
    if (!isEnd || signal.aborted || ageMs(command) < ORDER_MS) throw error;
    return failed(run, error.message);
  }
  await failpoint("command.ordered");
  return again(command);
}

/** What the host is to run, or why it cannot. */
async function orderOf(run: Run): Promise<(BuildSpec & { release: string }) | { fault: string }> {
  const deployment = await loadDeployment(run.context.db, run.command.deploymentId);
  const plan = deployment?.plan ?? null;
  if (deployment === undefined || plan === null) return { fault: "The deployment has no plan." };
  try {
    return await specOf(run, { deployment, plan, runtime: commandRuntime(plan) });
  } catch (error) {
    if (!isFault(error)) throw error;
    return { fault: error.message };
  }
}

async function specOf(
  { context, environment, command }: Run,
  { deployment, plan, runtime }: { deployment: DeploymentRow; plan: Plan; runtime: Runtime },
): Promise<BuildSpec & { release: string }> {
  const variables = await runVariables(context, environment, plan);
  const instance = await servingInstance(context.db, environment.id);
  const { memoryBytes, cpus } = sizeNamed(instance?.settings.size ?? DEFAULT_SIZE);
  const reaches = await attachedInstances(context.db, environment);
  const step = { commands: [command.command], directory: plan.rootDirectory };
  return {
    ...BUILD_LIMITS,
    id: command.id,
    environment: environment.id,
    organization: environment.familyId,
    release: releaseOf(deployment),
    runtime,
    steps: [{ name: COMMAND_STEP, command: commandOf(step, plan) }],
    variables,
    ...(reaches.length > 0 && { reaches }),
    ...(command.hasTerminal && { terminal: true }),
    secrets: secretNames(context, environment, variables),
    memoryBytes,
    cpus,
    deadlineSeconds: DEADLINE_SECONDS,
  };
}

async function follow(run: Run, known: Build): Promise<Outcome> {
  const { context, command } = run;
  if (known.endedAt !== null) return await ended(run, known);
  const status = known.startedAt === null ? "command.created" : "command.running";
  if (command.status !== status) await writeCommandStatus(context.db, command.id, status, known.startedAt);
  return again(command);
}

async function cancel(run: Run, known: Build | null): Promise<Outcome> {
  if (known === null) {
    // An order that the host is still receiving would run after this.
    await run.host.driver.removeBuild(run.command.id);
    return failed(run, CANCELLED);
  }
  return await ended(run, await run.host.driver.cancelBuild(known.id));
}

const CANCELLED = "The command was cancelled.";

async function ended(run: Run, build: Build): Promise<Outcome> {
  const { host, command, signal } = run;
  const output = await outputEnd(host.driver, command.id, signal);
  await failpoint("command.ended");
  const isSuccess = build.state === "succeeded";
  const reason = build.failure?.message ?? (build.state === "cancelled" ? CANCELLED : null);
  return written(run, build.startedAt, {
    status: isSuccess ? "command.success" : "command.failure",
    exitCode: build.steps.at(-1)?.exitCode ?? null,
    failureReason: isSuccess ? null : (reason ?? "The command failed."),
    ...output,
  });
}

function failed(run: Run, failureReason: string): Outcome {
  const end = { status: "command.failure" as const, exitCode: null, failureReason };
  return written(run, null, { ...end, output: "", isOutputCut: false });
}

/** The next run removes what is too old. */
function written({ command }: Run, startedAt: string | null, end: CommandEnd): Outcome {
  const { id, organizationId } = command;
  return {
    result: { settled: false, retryMs: 0, lastError: null },
    write: async (tx) => {
      if (!(await writeCommandEnd(tx, id, end, startedAt))) return;
      await recordEvent(tx, {
        organizationId,
        type: end.status === "command.success" ? "command_succeeded" : "command_failed",
        resource: commandResourceOf(command),
        details: {
          exit_code: end.exitCode,
          ...(end.failureReason !== null && { reason: end.failureReason }),
        },
      });
    },
  };
}

/** Keeps the latest commands of the environment; each older one goes from its host before its row goes. */
async function prune({ context: { db }, host, environment }: Run): Promise<Outcome> {
  const old = await commandIds(db, environment.id, { skipped: KEPT, limit: REMOVED_AT_ONCE });
  for (const id of old) {
    await host.driver.removeBuild(id);
    await eraseCommand(db, id);
  }
  return { result: "gone" };
}

function again(command: CommandRow): Outcome {
  const retryMs = Math.min(Math.max(ageMs(command) / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
  return { result: { settled: false, retryMs, lastError: null } };
}

function ageMs({ createdAt }: CommandRow): number {
  return Date.now() - Date.parse(createdAt);
}
