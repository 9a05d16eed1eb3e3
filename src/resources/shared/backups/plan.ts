// Finds out whether something can be restored, before an instance is made for it.
import { ApiError, invalid } from "../../../api/jsonapi/errors.ts";
import type { RestorePlan, RestoreTarget } from "../../../contracts/keeper.ts";
import type { Driver } from "../../../drivers/driver.ts";
import { PublicError } from "../../../lib/errors.ts";
import { hostAway } from "../offers.ts";

/**
 * How the target would be restored.
 * @param field the field of the request that names the target.
 * @throws ApiError 422 with the reason why it cannot be restored, or 503 when the driver cannot say.
 */
export async function planOf(
  driver: Driver,
  archive: string,
  { target, field }: { target: RestoreTarget; field: string },
): Promise<RestorePlan> {
  try {
    return await driver.planRestore(archive, target);
  } catch (error) {
    if (!(error instanceof PublicError) || error instanceof ApiError) throw error;
    // A driver that can be asked for the archive has refused the plan.
    await driver.archive(archive).catch((cause: unknown) => {
      throw hostAway(cause);
    });
    throw invalid({ [field]: [error.message] });
  }
}

/** @throws ApiError 422 for an instant that has not come yet. */
export function refuseFuture(instant: string, field: string): void {
  if (Date.parse(instant) <= Date.now()) return;
  throw invalid({ [field]: [`The field ${field} must not be in the future.`] });
}
