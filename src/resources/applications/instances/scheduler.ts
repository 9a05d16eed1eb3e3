// Turns the scheduler of an instance on and off.
import { invalid } from "../../../api/jsonapi/errors.ts";
import { newId } from "../../../lib/ids.ts";
import type { Transaction } from "../../../store/database.ts";
import { hasSchedule, SCHEDULE_COMMAND } from "../background-processes/scheduler.ts";
import { eraseScheduler, insertBackgroundProcess, isScheduled } from "../background-processes/store.ts";
import type { EnvironmentRow } from "../environments/store.ts";
import type { InstanceRow } from "./store.ts";

/**
 * Brings the scheduler of an instance to an order.
 * @param isWanted undefined leaves it as it is.
 * @throws ApiError 422 when the release has no scheduled work, or another instance has the scheduler.
 */
export async function orderScheduler(
  tx: Transaction,
  { id: environmentId, plan }: Pick<EnvironmentRow, "id" | "plan">,
  { id: instanceId, usesScheduler }: Pick<InstanceRow, "id" | "usesScheduler">,
  isWanted: boolean | undefined,
): Promise<void> {
  if (isWanted === undefined || isWanted === usesScheduler) return;
  if (!isWanted) return await eraseScheduler(tx, instanceId);
  if (plan !== null && !hasSchedule(plan))
    throw refusal("The release has no scheduler: it is a part of Laravel.");
  if (await isScheduled(tx, environmentId))
    throw refusal("Another instance of the environment has the scheduler, and it runs once.");
  const order = { type: "scheduler", processes: 1, command: SCHEDULE_COMMAND, config: {} } as const;
  await insertBackgroundProcess(tx, { id: newId("process"), instanceId, ...order });
}

function refusal(sentence: string) {
  return invalid({ uses_scheduler: [sentence] });
}
