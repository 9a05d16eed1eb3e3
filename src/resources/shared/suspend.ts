// Suspends an instance at once, at a customer's request.
import { recordAudit } from "../../api/auth/audit.ts";
import { callerId } from "../../api/auth/auth.ts";
import { ApiError } from "../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { KindContext } from "../kind.ts";
import { beginAction, findAction, type Action } from "./actions/store.ts";
import { lockInstance, refuseDeleting, type InstanceSearch } from "./desired-state.ts";
import { hostAway } from "./offers.ts";
import type { Made } from "./routed-resource.ts";

/**
 * The action waits less than its request does; the activity under way at the instance has less time than the action.
 */
const DEADLINE_SECONDS = 35;

/** The instance to suspend. */
interface InstanceSuspension<Row> extends InstanceSearch<Row> {
  /** Why this instance never sleeps, as a sentence; undefined for an instance that may sleep. */
  reasonAgainst(row: Row): string | undefined;
}

/**
 * Begins an action that suspends the instance, and resolves when the instance sleeps. The action continues when the
 * client or this process ends.
 * @throws ApiError 404, 409 when the instance cannot sleep, in time or ever, or 503 when the driver is unreachable.
 */
export async function suspendInstance<Row extends { id: string; hostId: string; status: string }>(
  { db }: KindContext,
  { principal, requestId, params, signal, waiters }: OperationRequest<unknown, unknown, { id: string }>,
  suspension: InstanceSuspension<Row>,
): Promise<Made<Row>> {
  const { kind, noun } = suspension;
  const { row, actionId } = await db.begin(async (tx) => {
    const found = await lockInstance(tx, suspension, principal.organizationId, params.id);
    refuseDeleting(found, noun);
    const reason = suspension.reasonAgainst(found);
    if (reason !== undefined) throw new ApiError(409, reason);
    if (found.status !== "available") throw notAvailable(noun, found.status);
    const { id, hostId } = found;
    await recordAudit(tx, { principal, requestId, action: "suspend", kind, id, details: {} });
    const wanted = { type: "suspend", resourceId: id, hostId, requestedBy: callerId(principal) } as const;
    return { row: found, actionId: await beginAction(tx, { ...wanted, deadlineSeconds: DEADLINE_SECONDS }) };
  });
  await failpoint("action.begun");
  const action = await waiters.until(
    { id: actionId, view: "action" },
    () => findAction(db, actionId),
    isOver,
    signal,
  );
  throwUnlessDone(action, noun);
  return { row, isReplayed: false };
}

function isOver(action: Action | undefined): boolean {
  return action?.endedAt !== null;
}

function throwUnlessDone(action: Action | undefined, noun: string): void {
  if (action?.state === "done") return;
  if (action === undefined) throw new ApiError(409, `The ${noun} is being deleted.`);
  if (action.failure === "unreachable") throw hostAway(new Error(action.error ?? ""));
  throw new ApiError(409, action.error ?? "It was not asleep in time.");
}

function notAvailable(noun: string, status: string): ApiError {
  return new ApiError(409, `The ${noun} is ${status}; it can be put to sleep when it is available.`);
}
