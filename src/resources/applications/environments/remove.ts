// Removes an environment: its address, its processes, its builds and releases, its user, and then its rows.
import { failpoint } from "../../../lib/failpoint.ts";
import type { Outcome } from "../../../reconciler/loop.ts";
import { enqueue } from "../../../reconciler/queue.ts";
import type { KindContext, ServedHost } from "../../kind.ts";
import { DEADLINE_SECONDS } from "../../shared/create.ts";
import { KIND } from "../create.ts";
import { commandIds, endCommandsOf, isRunningCommands } from "../commands/store.ts";
import { deployCommandId } from "../deployments/deploy-command.ts";
import { endDeployment } from "../deployments/end.ts";
import { endedDeploymentIds, isBeingDeployed, openDeployments } from "../deployments/store.ts";
import { removeProcesses } from "./place.ts";
import { backgroundRunsOf, processesOf } from "./processes.ts";
import { eraseEnvironment, type EnvironmentRow } from "./store.ts";

/** The pause before an environment is looked at again whose deployment is still being ended. */
const BUSY_MS = 200;

/** No environment has so many commands. */
const MAX_COMMANDS = 10_000;

/** Leaves nothing of an environment; each step can be run again. */
export async function removeEnvironment(
  context: KindContext,
  host: ServedHost,
  environment: EnvironmentRow,
  signal: AbortSignal,
): Promise<Outcome> {
  const { db } = context;
  const { id, applicationId, hostId } = environment;
  const { driver } = host;
  await driver.removeRoute(id);
  for (const deployment of await openDeployments(db, id))
    await db.begin((tx) => endDeployment(tx, deployment, { status: "cancelled" }));
  await db.begin((tx) => endCommandsOf(tx, id));
  // A run that is under way would order its build or its command after all was removed.
  if ((await isBeingDeployed(db, id)) || (await isRunningCommands(db, id)))
    return { result: { settled: false, retryMs: BUSY_MS, lastError: null } };
  const processes = [...(await processesOf(db, id)), ...(await backgroundRunsOf(db, id))];
  await removeProcesses(context, host, processes, signal);
  for (const command of await commandIds(db, id, { skipped: 0, limit: MAX_COMMANDS })) {
    signal.throwIfAborted();
    await driver.removeBuild(command);
  }
  for (const deployment of await endedDeploymentIds(db, id)) {
    signal.throwIfAborted();
    await driver.removeBuild(deployment);
    await driver.removeBuild(deployCommandId(deployment));
    await driver.removeRelease(deployment);
  }
  await driver.removeEnvironment(id);
  await failpoint("environment.removed");
  return {
    result: "gone",
    write: async (tx) => {
      await enqueue(tx, { kind: KIND, id: applicationId, hostId, deadlineSeconds: DEADLINE_SECONDS });
      await eraseEnvironment(tx, environment);
    },
  };
}
