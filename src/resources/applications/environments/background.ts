// Brings the background processes of an environment to its order, once its release serves.
import type { Plan } from "../../../contracts/plan.ts";
import { newId } from "../../../lib/ids.ts";
import type { ApplicationSpec } from "../../../contracts/instance-spec.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { commandOfProcess } from "../background-processes/command.ts";
import { everyMinute, hasSchedule } from "../background-processes/scheduler.ts";
import { backgroundProcessesOf, type BackgroundProcessRow } from "../background-processes/store.ts";
import type { DeploymentRow } from "../deployments/store.ts";
import { sizeNamed } from "../instances/sizes.ts";
import { followRotation } from "./credentials.ts";
import { endProcesses } from "./place.ts";
import {
  backgroundRunsOf,
  insertBackgroundRun,
  retireBackgroundRuns,
  type BackgroundRun,
} from "./processes.ts";
import { backgroundSpecOf, digestOf, type UnplacedSpec } from "./spec.ts";
import type { EnvironmentRow } from "./store.ts";

/** The release that serves, and the spec of the processes that do. */
interface ServingOrder {
  environment: EnvironmentRow;
  deployment: DeploymentRow;
  spec: UnplacedSpec;
}

/** Processes of a background process, all with the same spec. */
interface Wanted {
  row: BackgroundProcessRow;
  spec: UnplacedSpec;
  digest: string;
  count: number;
}

/** The background processes of an environment as they are placed. */
interface PlacedRuns {
  runs: BackgroundRun[];
  /** Whether former processes still end, so that further ones have to be placed later. */
  isEnding: boolean;
}

/**
 * Ends the processes that are no longer wanted, then places those that are missing, so that the former and the new
 * never work at the same time.
 */
export async function ensureBackgroundPlaced(
  context: KindContext,
  host: ServedHost,
  order: ServingOrder,
  signal: AbortSignal,
): Promise<PlacedRuns> {
  const { db } = context;
  const wanted = await wantedRuns(context, order);
  const { working: runs, ending } = await presentRuns(context, order, wanted);
  const kept = wanted.map((each) => runs.filter((run) => fits(run, each)).slice(0, each.count));
  const placed = kept.flat();
  const keptIds = new Set(placed.map(({ id }) => id));
  const outdated = runs.filter(({ id }) => !keptIds.has(id));
  // Recorded first, so that none of them is taken for a process that works when the order changes back meanwhile.
  await retireBackgroundRuns(
    db,
    outdated.map(({ id }) => id),
  );
  await failpoint("environment.background.retired");
  const running = await endProcesses(context, host, [...ending, ...outdated], signal);
  if (running.length > 0) return { runs: placed, isEnding: true };
  for (const [index, each] of wanted.entries())
    for (let count = kept[index]?.length ?? 0; count < each.count; count += 1)
      placed.push(await place(context, order, each));
  await failpoint("environment.background.placed");
  return { runs: placed, isEnding: false };
}

/** The background processes as they are, while no present order is in force; those whose end was ordered go on ending. */
export async function keepBackground(
  context: KindContext,
  host: ServedHost,
  order: ServingOrder,
  signal: AbortSignal,
): Promise<PlacedRuns> {
  const { working, ending } = await presentRuns(context, order, await wantedRuns(context, order));
  const running = await endProcesses(context, host, ending, signal);
  return { runs: working, isEnding: running.length > 0 };
}

/** Splits the background processes into those that work and those whose end was ordered, and updates passwords of the former. */
async function presentRuns(
  context: KindContext,
  { environment, deployment }: ServingOrder,
  wanted: readonly Wanted[],
): Promise<Record<"working" | "ending", BackgroundRun[]>> {
  const runs = await backgroundRunsOf(context.db, environment.id);
  const { working = [], ending = [] } = Object.groupBy(runs, ({ isEnding }) =>
    isEnding ? "ending" : "working",
  );
  const presentOf = ({ backgroundProcessId: id }: BackgroundRun) => {
    const found = wanted.find(({ row }) => row.id === id);
    return found && { ...found, deployment };
  };
  return { working: await followRotation(context, working, presentOf), ending };
}

async function wantedRuns({ db }: KindContext, order: ServingOrder): Promise<Wanted[]> {
  const { plan } = order.deployment;
  if (plan === null) return [];
  const rows = await backgroundProcessesOf(db, order.environment.id);
  return rows.filter((row) => canRun(plan, row)).map((row) => wantedOf(order, plan, row));
}

/** Has the host run processes; it starts again by itself what ends. */
export async function ensureBackgroundRuns(
  context: KindContext,
  { driver }: ServedHost,
  runs: readonly BackgroundRun[],
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(runs.map((run) => driver.ensure(specOfRun(context, run), signal)));
}

/** A later release may have no scheduled work. */
function canRun(plan: Plan, { type }: BackgroundProcessRow): boolean {
  return type !== "scheduler" || hasSchedule(plan);
}

function wantedOf({ deployment, spec }: ServingOrder, plan: Plan, row: BackgroundProcessRow): Wanted {
  const { settings, processes, type } = row;
  const isScheduler = type === "scheduler";
  const command = commandOfProcess(row);
  const lines = isScheduler ? everyMinute(command) : command;
  const own = backgroundSpecOf(spec, plan, sizeNamed(settings.size), lines);
  const replicas = isScheduler ? 1 : (settings.replicas ?? 1);
  return { row, spec: own, digest: digestOf(deployment, own), count: processes * replicas };
}

function fits({ backgroundProcessId, digest }: BackgroundRun, wanted: Wanted): boolean {
  return backgroundProcessId === wanted.row.id && digest === wanted.digest;
}

async function place(
  { db, vault }: KindContext,
  { environment, deployment }: ServingOrder,
  { row, spec, digest }: Wanted,
): Promise<BackgroundRun> {
  const id = newId("proc");
  const deploymentId = deployment.id;
  const run = {
    id,
    deploymentId,
    sealedSpec: vault.seal(JSON.stringify(spec), id),
    digest,
    backgroundProcessId: row.id,
  };
  await db.begin((tx) => insertBackgroundRun(tx, environment, run));
  return { ...run, isEnding: false };
}

function specOfRun({ vault }: KindContext, { id, deploymentId, sealedSpec }: BackgroundRun): ApplicationSpec {
  const spec = JSON.parse(vault.open(sealedSpec, id)) as UnplacedSpec;
  return {
    ...spec,
    id,
    deployment: deploymentId,
    exposure: { port: null, scope: "loopback", through: "engine" },
  };
}
