// Brings an environment to its order: processes of the current release behind its address, or nothing of it.
import type { Observation } from "../../../contracts/observation.ts";
import { isFault, messageOf, PublicError } from "../../../lib/errors.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { redactor } from "../../../lib/redaction.ts";
import type { Outcome, Reconcile } from "../../../reconciler/loop.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { isServed } from "../../shared/status.ts";
import { ensureEdge } from "../edge.ts";
import { takeProcfile } from "../background-processes/bound.ts";
import { endDeployment } from "../deployments/end.ts";
import { cancelDeployCommand, ensureDeployCommandRan } from "../deployments/deploy-command.ts";
import {
  loadDeployment,
  openDeployment,
  writeDeploymentStatus,
  type DeploymentRow,
} from "../deployments/store.ts";
import { DEFAULT_SIZE, sizeNamed } from "../instances/sizes.ts";
import { servingInstance } from "../instances/store.ts";
import { assertReleaseFits, reallocateRelease } from "./allocation.ts";
import { ensureBackgroundPlaced, ensureBackgroundRuns, keepBackground } from "./background.ts";
import { followRotation } from "./credentials.ts";
import { processInputs } from "./inputs.ts";
import { again, ending, settled } from "./outcomes.ts";
import { ensurePlaced, endProcesses, removeProcesses, specOfProcess } from "./place.ts";
import {
  backgroundRunsOf,
  promoteProcesses,
  retireProcesses,
  type ApplicationProcess,
  type BackgroundRun,
} from "./processes.ts";
import { refusalOf, refuse } from "./refusal.ts";
import { removeEnvironment } from "./remove.ts";
import { besideRetired } from "./retired.ts";
import { pruneReleases } from "./releases.ts";
import { EnvironmentRoute } from "./route.ts";
import { isObsolete, watchRun } from "./run-watch.ts";
import { digestOf, processSpecOf, type UnplacedSpec } from "./spec.ts";
import {
  loadEnvironment,
  lockEnvironment,
  writeCurrentDeployment,
  writeRefusal,
  type EnvironmentRow,
} from "./store.ts";
import { nextWakeOf } from "./wake-interval.ts";

/** The pause before an environment is looked at again whose process still starts. */
const STARTING_MS = 200;

/** The pause before a release that did not start is tried again, where nothing else serves. */
const RETRY_MS = 5_000;

/** What a run works with. */
interface Run {
  context: KindContext;
  host: ServedHost;
  environment: EnvironmentRow;
  processes: ApplicationProcess[];
  /** The processes that answer no requests. */
  background: BackgroundRun[];
  route: EnvironmentRoute;
  signal: AbortSignal;
}

/** What has to serve: a deployment, and the spec, the digest and the number of its processes. */
interface Order {
  deployment: DeploymentRow;
  /** Whether it is being rolled out now. */
  isRollout: boolean;
  spec: UnplacedSpec;
  digest: string;
  replicas: number;
  /** Cuts the secrets of its variables out of a text. */
  redacted(text: string): Promise<string>;
}

/** The reconciler of environments. */
export function reconcileEnvironment(context: KindContext): Reconcile {
  const { db, hosts } = context;
  return async (id, signal) => {
    const environment = await loadEnvironment(db, id);
    if (environment === undefined) return { result: "gone" };
    const host = hosts.of(environment.hostId);
    if (environment.status === "deleting") return await removeEnvironment(context, host, environment, signal);
    const route = EnvironmentRoute.of(context, host, id);
    const watch = watchRun(context, { environment, route, signal });
    try {
      const ends = AbortSignal.any([signal, watch.obsolete]);
      const background = await backgroundRunsOf(db, id);
      const run = { context, host, environment, route, signal: ends };
      return await besideRetired(run, (processes) => reconcile({ ...run, processes, background }));
    } catch (error) {
      if (watch.obsolete.aborted) return again(0, null);
      throw error;
    } finally {
      watch.end();
      await route.end();
    }
  };
}

async function reconcile(run: Run): Promise<Outcome> {
  const { context, host, environment, processes, route, signal } = run;
  if (environment.status === "stopped") {
    await route.lead([]);
    // A start that comes before their end leads no requests to them.
    await retireProcesses(context.db, environment.id);
    const running = await endProcesses(context, host, [...processes, ...run.background], signal);
    await cancelDeployCommand(context, host, environment);
    return running.length > 0 ? ending() : settled([]);
  }
  const found = await orderOf(run);
  if (found === null) await removeUnserved(run);
  if (found === null || found instanceof PublicError) return settled(processes);
  const present = processes.filter(({ state }) => state === "serving");
  const serving = await followRotation(context, present, () => found);
  const fitting = serving.filter(({ digest }) => !found.isRollout && digest === found.digest);
  if (!found.isRollout && isInForce(found, serving)) return await keepServing(run, serving, found);
  const isRefused = !found.isRollout && environment.refusedDigest === refusalOf(found);
  if (isRefused && serving.length > 0) return await keepServing(run, serving, found);
  return await swap(run, found, { serving, fitting: fitting.slice(0, found.replicas) });
}

/** Nothing has ever served: what starts is of a deployment that has ended, whose own run may have been killed. */
async function removeUnserved({ context, host, processes, route, signal }: Run): Promise<void> {
  const starting = processes.filter(({ state }) => state === "starting");
  if (starting.length === 0) return;
  await route.lead([]);
  await removeProcesses(context, host, starting, signal);
}

function isInForce({ digest, replicas }: Order, serving: readonly ApplicationProcess[]): boolean {
  return serving.length === replicas && serving.every((process) => process.digest === digest);
}

/** The instances of the route of an environment: background processes sleep and wake with those that serve. */
function routeOf({ background }: Run, serving: readonly ApplicationProcess[]): string[] {
  return [...serving, ...background.filter(({ isEnding }) => !isEnding)].map(({ id }) => id);
}

/** A run that was cut off may have led the address to processes that did not come to serve. */
async function leadToServing(run: Run): Promise<void> {
  const serving = run.processes.filter(({ state }) => state === "serving");
  if (serving.length > 0) await run.route.lead(routeOf(run, serving));
}

/** The deployment that is being rolled out, or else the current deployment; null before the first. */
async function orderOf(run: Run): Promise<Order | null | PublicError> {
  const { context, environment } = run;
  const { db } = context;
  const open = await openDeployment(db, environment.id);
  const isRollout = open !== undefined && open.status.startsWith("deployment.");
  const { currentDeploymentId } = environment;
  const current = currentDeploymentId === null ? undefined : await loadDeployment(db, currentDeploymentId);
  const deployment = isRollout ? open : current;
  if (deployment === undefined) return null;
  const { secrets, ...inputs } = await processInputs(context, environment, deployment.plan);
  const instance = await servingInstance(db, environment.id);
  const size = sizeNamed(instance?.settings.size ?? DEFAULT_SIZE);
  const replicas = instance?.settings.replicas ?? 1;
  try {
    const spec = processSpecOf(environment, deployment, size, inputs);
    const digest = digestOf(deployment, spec);
    return { deployment, isRollout, spec, digest, replicas, redacted: redactor(secrets) };
  } catch (error) {
    if (!(error instanceof PublicError)) throw error;
    await leadToServing(run);
    await refuse(run, { deployment, isRollout, digest: "", replicas }, error.message);
    return error;
  }
}

/**
 * The processes that serve run, and the address leads to them. Their background processes follow, or stay as they are
 * while the order is not in force.
 */
async function keepServing(run: Run, serving: ApplicationProcess[], order: Order): Promise<Outcome> {
  const { context, host, environment, processes, signal } = run;
  await ensureEdge(host, context.edge, signal);
  // An order that was refused before is no longer asked for.
  const isDone = isInForce(order, serving);
  if (isDone && environment.lastError !== null) await writeRefusal(context.db, environment.id, null);
  const ensureBackground = isDone ? ensureBackgroundPlaced : keepBackground;
  const serves = { environment, ...order };
  const { runs: background, isEnding } = await ensureBackground(context, host, serves, signal);
  await run.route.lead(routeOf({ ...run, background }, serving));
  const starting = processes.filter(({ state }) => state === "starting");
  await removeProcesses(context, host, starting, signal);
  const specs = serving.map((process) => specOfProcess(context, process));
  const seen = await Promise.all(specs.map((spec) => host.driver.ensure(spec, signal)));
  await ensureBackgroundRuns(context, host, background, signal);
  const rest = processes.filter(({ state }) => state !== "starting");
  if (!seen.every(isServed)) return again(STARTING_MS * 10, "The application does not run.");
  if (isEnding) return ending();
  const wake = nextWakeOf(environment.settings, seen, Date.now());
  if (wake?.isDue !== true) return settled(rest, wake?.at);
  await host.driver.wakeRoute(environment.id, { occasion: "wake interval" });
  await failpoint("environment.woken");
  // Only a run that finds it awake counts the interval anew, so that no kill loses the wake.
  return again(STARTING_MS, null);
}

/** The processes before a swap: all that serve, and those of them that serve after it as well. */
interface Former {
  serving: ApplicationProcess[];
  fitting: ApplicationProcess[];
}

/** Starts the processes of an order beside the present ones, and leads the address to them once they answer. */
async function swap(run: Run, order: Order, { serving, fitting }: Former): Promise<Outcome> {
  const { context, host, environment, signal } = run;
  const { db, edge } = context;
  const { deployment } = order;
  // A change waits for an edge that does not run, a deployment fails with the reason.
  if (!order.isRollout) await ensureEdge(host, edge, signal);
  try {
    if (order.isRollout) await ensureEdge(host, edge, signal);
    await leadToServing(run);
    if (order.isRollout) {
      if (!(await writeDeploymentStatus(db, deployment.id, "deployment.running"))) return again(0, null);
      await assertReleaseFits(context, environment.id, deployment.plan?.processes ?? []);
      await ensureDeployCommandRan(context, host, { environment, deployment, spec: order.spec }, signal);
    }
    if (!(await startAndPromote(run, order, fitting))) return again(STARTING_MS, null);
  } catch (error) {
    if (!isFault(error) || signal.aborted) throw error;
    await leadToServing(run);
    const reason = await order.redacted(messageOf(error));
    await refuse(run, order, reason);
    // Without a process that serves, the present release is tried again and again.
    const isLast = serving.length === 0 && !order.isRollout;
    return again(isLast ? RETRY_MS : 0, reason);
  }
  await pruneReleases(context, host, environment);
  return again(0, null);
}

/**
 * Has the missing processes of an order serve, beside those that fit it already.
 * @returns false while they still start.
 * @throws PublicError when they do not come up, or do not answer.
 */
async function startAndPromote(run: Run, order: Order, fitting: ApplicationProcess[]): Promise<boolean> {
  const { context, host, environment, processes, route, signal } = run;
  const wanted = { environment, processes, ...order, count: order.replicas - fitting.length };
  const placed = await ensurePlaced(context, host, wanted, signal);
  await failpoint("environment.placed");
  const specs = placed.map((process) => specOfProcess(context, process));
  const seen = await Promise.all(specs.map((spec) => host.driver.ensure(spec, signal)));
  await failpoint("environment.started");
  const failed = seen.find((each) => !isStarting(each) && !isServed(each));
  if (failed !== undefined) throw new PublicError(failed.lastError ?? "The application did not start.");
  if (seen.some(isStarting)) return false;
  const next = [...fitting, ...placed];
  await route.lead(routeOf(run, next));
  await failpoint("environment.routed");
  const ports = next.map(({ port }) => port);
  await route.ensureAnswered({ path: order.spec.healthPath, ports });
  await failpoint("environment.answered");
  await promote(run, order, next);
  return true;
}

const isStarting = ({ state }: Observation): boolean => state === "starting";

/** One transaction: the processes serve, the former retire, and the deployment has succeeded. */
async function promote(run: Run, order: Order, next: ApplicationProcess[]): Promise<void> {
  const { context, environment } = run;
  const { deployment, isRollout } = order;
  await context.db.begin(async (tx) => {
    const now = await lockEnvironment(tx, environment.organizationId, environment.id);
    if (isObsolete(now, environment)) throw new Error("the environment was stopped meanwhile");
    const ids = next.map(({ id }) => id);
    await promoteProcesses(tx, environment.id, ids, environment.settings.shutdown_timeout);
    if (isRollout) await takeProcfile(tx, environment.id, deployment.plan?.processes ?? []);
    await writeCurrentDeployment(tx, environment.id, deployment.id);
    // A deployment that was cancelled meanwhile takes all of this back.
    if (isRollout && !(await endDeployment(tx, deployment, { status: "deployment.succeeded" })))
      throw new Error("the deployment was ended meanwhile");
    if (isRollout) await reallocateRelease(tx, context.quotas, environment.id);
  });
  await failpoint("environment.promoted");
}
