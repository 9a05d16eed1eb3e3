// The refusal of an order that cannot be brought into force.
import type { KindContext, ServedHost } from "../../kind.ts";
import { endDeployment } from "../deployments/end.ts";
import type { DeploymentRow } from "../deployments/store.ts";
import { removeProcesses } from "./place.ts";
import { processesOf } from "./processes.ts";
import { lockEnvironment, writeRefusal, type EnvironmentRow } from "./store.ts";

/** An order that is refused: a deployment, or what else has changed. */
interface RefusedOrder {
  deployment: DeploymentRow;
  isRollout: boolean;
  digest: string;
  replicas: number;
}

/** An order with another number of replicas is another order, which may succeed. */
export function refusalOf({ digest, replicas }: Pick<RefusedOrder, "digest" | "replicas">): string {
  return `${digest} ${replicas}`;
}

/** Where an order is refused. */
interface RefusingRun {
  context: KindContext;
  host: ServedHost;
  environment: EnvironmentRow;
  signal: AbortSignal;
}

/** The former process goes on; the deployment has failed, or the change is not in force. */
export async function refuse(
  { context, host, environment, signal }: RefusingRun,
  { deployment, isRollout, ...order }: RefusedOrder,
  reason: string,
): Promise<void> {
  const { db } = context;
  await db.begin(async (tx) => {
    await lockEnvironment(tx, environment.organizationId, environment.id);
    if (isRollout) await endDeployment(tx, deployment, { status: "deployment.failed", reason });
    else await writeRefusal(tx, environment.id, { digest: refusalOf(order), reason });
  });
  const refused = (await processesOf(db, environment.id)).filter(({ state }) => state === "starting");
  await removeProcesses(context, host, refused, signal);
}
