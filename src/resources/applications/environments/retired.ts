// The end of the processes of an environment that others have replaced.
import { both } from "../../../lib/both.ts";
import type { Outcome } from "../../../reconciler/loop.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { beforeEnding } from "./outcomes.ts";
import { endProcesses } from "./place.ts";
import { processesOf, type ApplicationProcess } from "./processes.ts";
import { pruneReleases } from "./releases.ts";
import type { EnvironmentRow } from "./store.ts";

/** Of how many swaps processes may retire at once; more swaps than that end the oldest early. */
const MAX_RETIRING = 2;

/** A run of the reconciler of environments. */
interface Run {
  context: KindContext;
  host: ServedHost;
  environment: EnvironmentRow;
  signal: AbortSignal;
}

/** Reconciles the present processes while those whose time is over end: a new release does not wait for that. */
export async function besideRetired(
  run: Run,
  reconcile: (present: ApplicationProcess[]) => Promise<Outcome>,
): Promise<Outcome> {
  const processes = await processesOf(run.context.db, run.environment.id);
  const over = processes.filter(isOverAmong(processes));
  const present = processes.filter((process) => !over.includes(process));
  const [outcome, isEnding] = await both(reconcile(present), endRetired(run, over));
  return isEnding ? beforeEnding(outcome) : outcome;
}

function isOverAmong(processes: readonly ApplicationProcess[]): (process: ApplicationProcess) => boolean {
  const retiring = processes.filter(({ state }) => state === "retiring");
  const kept = new Set([...new Set(retiring.map(({ digest }) => digest))].slice(-MAX_RETIRING));
  return ({ state, retiresAt, digest }) =>
    (retiresAt !== null && retiresAt.getTime() <= Date.now()) || (state === "retiring" && !kept.has(digest));
}

/** Ends processes, and removes releases that only they needed. @returns whether some of them still run. */
async function endRetired(
  { context, host, environment, signal }: Run,
  over: readonly ApplicationProcess[],
): Promise<boolean> {
  const running = await endProcesses(context, host, over, signal);
  if (running.length < over.length) await pruneReleases(context, host, environment);
  return running.length > 0;
}
