// Places and removes the processes of an environment.
import type { ApplicationSpec } from "../../../contracts/instance-spec.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { newId } from "../../../lib/ids.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { withFreePort } from "../../shared/ports.ts";
import { eraseProcess, insertProcess, type ApplicationProcess } from "./processes.ts";
import type { UnplacedSpec } from "./spec.ts";
import type { EnvironmentRow } from "./store.ts";

/** Processes that are needed. */
interface WantedProcesses {
  environment: EnvironmentRow;
  /** Those that the environment has. */
  processes: readonly ApplicationProcess[];
  deployment: { id: string };
  spec: UnplacedSpec;
  digest: string;
  /** How many of them have to start. */
  count: number;
}

/** The processes with the wanted digest that start, placed where there are too few; others that start are removed. */
export async function ensurePlaced(
  context: KindContext,
  host: ServedHost,
  wanted: WantedProcesses,
  signal: AbortSignal,
): Promise<ApplicationProcess[]> {
  const { environment, processes, digest, count } = wanted;
  const starting = processes.filter(({ state }) => state === "starting");
  const placed = starting.filter((each) => each.digest === digest).slice(0, count);
  const outdated = starting.filter((each) => !placed.includes(each));
  await removeProcesses(context, host, outdated, signal);
  while (placed.length < count) placed.push(await place(context, host, environment, wanted));
  return placed;
}

async function place(
  context: KindContext,
  host: ServedHost,
  environment: EnvironmentRow,
  { deployment, spec, digest }: WantedProcesses,
): Promise<ApplicationProcess> {
  const { db, vault } = context;
  const id = newId("proc");
  const values = {
    id,
    deploymentId: deployment.id,
    digest,
    sealedSpec: vault.seal(JSON.stringify(spec), id),
  };
  const port = await withFreePort(context, host, (offer) =>
    db.begin((tx) => insertProcess(tx, environment, values, offer)),
  );
  return { ...values, port, state: "starting", retiresAt: null };
}

/** The spec of a placed process, as it was at its placement. */
export function specOfProcess(
  { vault }: KindContext,
  { id, deploymentId, port, sealedSpec }: ApplicationProcess,
): ApplicationSpec {
  const spec = JSON.parse(vault.open(sealedSpec, id)) as UnplacedSpec;
  return { ...spec, id, deployment: deploymentId, exposure: { port, scope: "loopback", through: "engine" } };
}

/** Ends processes, and forgets them. A process that is gone already is only forgotten. */
export async function removeProcesses(
  { db }: KindContext,
  { driver }: ServedHost,
  processes: readonly { id: string }[],
  signal: AbortSignal,
): Promise<void> {
  const removals = processes.map(async ({ id }) => {
    await driver.remove(id, signal);
    await failpoint("environment.removed");
    await eraseProcess(db, id);
  });
  await Promise.all(removals);
}

/** Asks the host to end processes, and removes the processes that have ended. @returns the processes that still run. */
export async function endProcesses<Process extends { id: string }>(
  context: KindContext,
  host: ServedHost,
  processes: readonly Process[],
  signal: AbortSignal,
): Promise<Process[]> {
  const isRunning = await Promise.all(processes.map(async ({ id }) => await host.driver.end(id)));
  const running = processes.filter((_process, index) => isRunning[index]);
  const ended = processes.filter((process) => !running.includes(process));
  await removeProcesses(context, host, ended, signal);
  return running;
}
