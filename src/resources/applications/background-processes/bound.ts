// The bound of all processes of an environment, so that an order cannot take a machine.
import { invalid } from "../../../api/jsonapi/errors.ts";
import { PublicError } from "../../../lib/errors.ts";
import type { Queryable, Transaction } from "../../../store/database.ts";
import { countOrderedProcesses } from "./store.ts";

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

/** @throws PublicError when a Procfile gives the environment too many processes. */
export async function assertProcfileFits(tx: Transaction, environmentId: string): Promise<void> {
  const sentence = await excess(tx, environmentId);
  if (sentence !== null) throw new PublicError(`The Procfile has too many processes. ${sentence}`);
}

async function excess(db: Queryable, environmentId: string): Promise<string | null> {
  const count = await countOrderedProcesses(db, environmentId);
  if (count <= MAX_PROCESSES_OF_ENVIRONMENT) return null;
  return `The environment would have ${count} processes; at most ${MAX_PROCESSES_OF_ENVIRONMENT} are possible.`;
}
