// Places and removes the processes of an environment.
import type { ApplicationSpec } from "../../../contracts/instance-spec.ts";
import { failpoint } from "../../../lib/failpoint.ts";
import { newId } from "../../../lib/ids.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { freePorts, PortsTaken } from "../../shared/ports.ts";
import { eraseProcess, insertProcess, processesOf, type ApplicationProcess } from "./processes.ts";
import type { UnplacedSpec } from "./spec.ts";
import type { EnvironmentRow } from "./store.ts";

/** How many processes of an environment may retire at once; more swaps than that end the oldest early. */
const MAX_RETIRING = 2;

/** A process that is needed. */
export interface WantedProcess {
  environment: EnvironmentRow;
  /** Those that the environment has. */
  processes: readonly ApplicationProcess[];
  deployment: { id: string };
  spec: UnplacedSpec;
  digest: string;
}

/** The process with the wanted digest, placed where there is none yet; others that start are removed. */
export async function ensurePlaced(
  context: KindContext,
  host: ServedHost,
  wanted: WantedProcess,
): Promise<ApplicationProcess> {
  const { environment, processes, digest } = wanted;
  const starting = processes.filter(({ state }) => state === "starting");
  const outdated = starting.filter((each) => each.digest !== digest);
  await removeProcesses(context, host, outdated);
  return starting.find((each) => each.digest === digest) ?? (await place(context, host, environment, wanted));
}

async function place(
  { db, vault }: KindContext,
  host: ServedHost,
  environment: EnvironmentRow,
  { deployment, spec, digest }: WantedProcess,
): Promise<ApplicationProcess> {
  const id = newId("proc");
  const values = {
    id,
    deploymentId: deployment.id,
    digest,
    sealedSpec: vault.seal(JSON.stringify(spec), id),
  };
  for await (const ports of freePorts(db, host)) {
    try {
      const port = await db.begin((tx) => insertProcess(tx, environment, values, ports));
      return { ...values, port, state: "starting", retiresAt: null };
    } catch (error) {
      if (!(error instanceof PortsTaken)) throw error;
    }
  }
  throw new Error("the last batch of ports is never taken");
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
  processes: readonly ApplicationProcess[],
): Promise<void> {
  for (const { id } of processes) {
    await driver.remove(id);
    await failpoint("environment.removed");
    await eraseProcess(db, id);
  }
}

/** Ends the processes whose time is over. @returns the others. */
export async function endRetired(
  context: KindContext,
  host: ServedHost,
  { id }: EnvironmentRow,
): Promise<ApplicationProcess[]> {
  const processes = await processesOf(context.db, id);
  const retiring = processes.filter(({ state }) => state === "retiring");
  const surplus = retiring.slice(0, Math.max(0, retiring.length - MAX_RETIRING));
  const over = new Set([...processes.filter(isOver), ...surplus]);
  await removeProcesses(context, host, [...over]);
  return processes.filter((process) => !over.has(process));
}

function isOver({ retiresAt }: ApplicationProcess): boolean {
  return retiresAt !== null && retiresAt.getTime() <= Date.now();
}
