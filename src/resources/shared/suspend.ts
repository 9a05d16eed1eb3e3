// Puts an instance to sleep at once, because somebody asks for it.
import { recordAudit } from "../../api/auth/audit.ts";
import { ApiError } from "../../api/jsonapi/errors.ts";
import type { OperationRequest } from "../../api/operation/operation.ts";
import type { Driver, Observation } from "../../drivers/driver.ts";
import { publicMessageOf } from "../../lib/errors.ts";
import type { KindContext } from "../kind.ts";
import { hostAway } from "./offers.ts";
import type { Made } from "./routed-resource.ts";
import { lockInstance, refuseDeleting, type InstanceSearch } from "./desired-state.ts";

/** Whoever asks waits no longer; what is under way has a little less time to come to its end. */
const DEADLINE_MS = 35_000;

/** What is put to sleep. */
export interface InstanceSuspension<Row> extends InstanceSearch<Row> {
  /** Why this one never sleeps, as a sentence; undefined for one that may. */
  reasonAgainst(row: Row): string | undefined;
}

/**
 * Resolves with the instance when it sleeps, or did already.
 * @throws ApiError 404, 409 when it cannot sleep, in time or ever, or 503 when the driver cannot be reached.
 */
export async function suspendInstance<Row extends { id: string; hostId: string; status: string }>(
  context: KindContext,
  { principal, requestId, params, signal }: OperationRequest<unknown, unknown, { id: string }>,
  suspension: InstanceSuspension<Row>,
): Promise<Made<Row>> {
  const { kind, noun } = suspension;
  const row = await context.db.begin(async (tx) => {
    const found = await lockInstance(tx, suspension, principal.organizationId, params.id);
    refuseDeleting(found, noun);
    const reason = suspension.reasonAgainst(found);
    if (reason !== undefined) throw new ApiError(409, reason);
    if (found.status !== "available") throw notAvailable(noun, found.status);
    await recordAudit(tx, { principal, requestId, action: "suspend", kind, id: found.id, details: {} });
    return found;
  });
  const { driver, observedStates } = context.hosts.of(row.hostId);
  observedStates.noteAnswer(await putToSleep(driver, row.id, signal));
  return { row, isReplayed: false };
}

async function putToSleep(driver: Driver, id: string, asked: AbortSignal): Promise<Observation> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  try {
    return await driver.suspend(id, AbortSignal.any([asked, deadline]));
  } catch (refusal) {
    if (asked.aborted) throw hostAway(refusal);
    // A driver that is away has refused nothing.
    await driver.observe(id).catch((cause: unknown) => {
      throw hostAway(cause);
    });
    const reason = deadline.aborted
      ? "It could not be put to sleep in time."
      : publicMessageOf(refusal, "It could not be put to sleep; the log of Pilvi says why.");
    throw new ApiError(409, reason, { cause: refusal });
  }
}

function notAvailable(noun: string, status: string): ApiError {
  return new ApiError(409, `The ${noun} is ${status}; it can be put to sleep when it is available.`);
}
