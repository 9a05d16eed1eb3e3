// The first and the last steps of every change to the desired state of an instance.
import { ApiError, notFound } from "../../api/jsonapi/errors.ts";
import { enqueue } from "../../reconciler/queue.ts";
import type { Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { DEADLINE_SECONDS } from "./create.ts";
import type { InstanceKind } from "./instance-kinds.ts";
import { lockRow, markUpdating } from "./rows.ts";

/** How a kind finds its rows, and its noun. */
export interface InstanceSearch<Row> {
  kind: InstanceKind;
  /** Such as `cache`. */
  noun: string;
  find(tx: Transaction, organizationId: string, id: string): Promise<Row | undefined>;
}

/**
 * Reads and locks the organization's instance until the transaction ends.
 * @throws ApiError 404
 */
export async function lockInstance<Row>(
  tx: Transaction,
  { kind, noun, find }: InstanceSearch<Row>,
  organizationId: string,
  id: string,
): Promise<Row> {
  await lockRow(tx, kind, organizationId, id);
  const row = await find(tx, organizationId, id);
  if (row === undefined) throw notFound(noun);
  return row;
}

/** @throws ApiError 409 when the instance is being deleted. */
export function refuseDeleting({ status }: { status: string }, noun: string): void {
  if (status === "deleting") throw new ApiError(409, `The ${noun} is being deleted.`);
}

/** Enqueues the instance, and gives it the status of a change that is not in force yet. */
export async function enqueueChange(
  tx: Transaction,
  kind: InstanceKind,
  { id, hostId }: { id: string; hostId: string },
): Promise<void> {
  await markUpdating(tx, kind, id);
  await notify(tx, "status", id);
  await enqueue(tx, { kind, id, hostId, deadlineSeconds: DEADLINE_SECONDS });
}
