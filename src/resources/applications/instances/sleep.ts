// The sleep of an environment, as an order for its serving instance gives it. The environment itself has the setting.
import { invalid } from "../../../api/jsonapi/errors.ts";
import type { Transaction } from "../../../store/database.ts";
import { NOT_WOKEN, type EnvironmentSettings } from "../environments/settings.ts";
import { updateEnvironment, type EnvironmentRow } from "../environments/store.ts";
import type { InstanceChange } from "./schema.ts";
import type { InstanceRow } from "./store.ts";

/** The members of a change that order a sleep. */
const sleepFields = ["hibernation_timeout", "uses_sleep_mode", "sleep_timeout"] as const;

type SleepSettings = Pick<EnvironmentSettings, "uses_hibernation" | "sleep_timeout">;

/**
 * Brings the sleep of an environment to an order.
 * @throws ApiError 422 for an instance that serves no requests, and for an environment with a wake interval that would
 *   sleep no more.
 */
export async function orderSleep(
  tx: Transaction,
  environment: EnvironmentRow,
  { type }: Pick<InstanceRow, "type">,
  body: InstanceChange,
): Promise<void> {
  const field = sleepFields.find((name) => body[name] !== undefined);
  if (field === undefined) return;
  if (type !== "app") throw invalid({ [field]: ["Only the instance that serves requests has a sleep."] });
  const settings = { ...environment.settings, ...sleepOf(environment.settings, body) };
  if (settings.hibernation_wake_up_interval !== null && !settings.uses_hibernation)
    throw invalid({ [field]: [NOT_WOKEN] });
  await updateEnvironment(tx, environment.id, { ...environment, settings });
}

/** The newer member wins over the two that it replaces. */
function sleepOf(former: SleepSettings, body: InstanceChange): SleepSettings {
  const { hibernation_timeout: minutes } = body;
  if (minutes === null) return { uses_hibernation: false, sleep_timeout: former.sleep_timeout };
  if (minutes !== undefined) return { uses_hibernation: true, sleep_timeout: minutes };
  return {
    uses_hibernation: body.uses_sleep_mode ?? former.uses_hibernation,
    sleep_timeout: body.sleep_timeout ?? former.sleep_timeout,
  };
}
