// The bound of all processes of an environment, so that an order cannot take a machine.
import { invalid } from "../../../api/jsonapi/errors.ts";
import type { PlannedProcess } from "../../../contracts/plan.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { Queryable, Transaction } from "../../../store/database.ts";
import { followProcfile, orderedProcessesOf } from "./store.ts";

const MAX_PROCESSES_OF_ENVIRONMENT = 50;

/** @throws ApiError 422 for a member of a request after which the environment would have too many processes. */
export async function assertFewProcesses(
  tx: Transaction,
  environmentId: string,
  member: "processes" | "max_replicas" | "uses_scheduler",
): Promise<void> {
  const sentence = await excess(tx, environmentId);
  if (sentence !== null) throw invalid({ [member]: [sentence] });
}

/**
 * Brings the background processes of the serving instance to the lines of a Procfile.
 * @throws PublicError when the environment would have too many processes.
 */
export async function takeProcfile(
  tx: Transaction,
  environmentId: string,
  lines: readonly PlannedProcess[],
): Promise<void> {
  await followProcfile(tx, environmentId, lines);
  const sentence = await excess(tx, environmentId);
  if (sentence !== null) throw new PublicError(`The Procfile has too many processes. ${sentence}`);
}

async function excess(db: Queryable, environmentId: string): Promise<string | null> {
  const ordered = await orderedProcessesOf(db, environmentId);
  const count = ordered.reduce((sum, each) => sum + each.count, 0);
  if (count <= MAX_PROCESSES_OF_ENVIRONMENT) return null;
  return `The environment would have ${count} processes; at most ${MAX_PROCESSES_OF_ENVIRONMENT} are possible.`;
}
