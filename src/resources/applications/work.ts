// The kinds of work of applications in the queue, and how to queue it.
import { enqueue } from "../../reconciler/queue.ts";
import type { Queryable } from "../../store/database.ts";

export const ENVIRONMENTS = "environments";
export const DEPLOYMENTS = "deployments";
export const COMMANDS = "commands";

/** A deployment may build for a quarter of an hour, and wait for others before. */
const DEADLINE_SECONDS = 3_600;

/** Has the reconciler of environments look at an environment. */
export async function enqueueEnvironment(
  tx: Queryable,
  { id, hostId }: { id: string; hostId: string },
): Promise<void> {
  await enqueue(tx, { kind: ENVIRONMENTS, id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}

/** Has the reconciler of deployments look at a deployment. */
export async function enqueueDeployment(tx: Queryable, id: string, hostId: string): Promise<void> {
  await enqueue(tx, { kind: DEPLOYMENTS, id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}

/** Has the reconciler of commands look at a command. */
export async function enqueueCommand(tx: Queryable, id: string, hostId: string): Promise<void> {
  await enqueue(tx, { kind: COMMANDS, id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}
