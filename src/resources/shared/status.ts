// The one place where an observed state decides the status of an instance.
import type { Observation } from "../../contracts/observation.ts";

/**
 * The statuses of every kind of instance; `lost` is the kind's status of an instance that ran and does not run at the
 * moment.
 */
export type CommonStatus<Lost extends string> =
  | "creating"
  | "restoring"
  | "restore_failed"
  | "available"
  | "updating"
  | "deleting"
  | "unknown"
  | Lost;

/**
 * The status that follows from the observed state.
 * @param isReached whether a login with the instance's own credentials, through its published address, worked now, or
 * before it fell asleep.
 */
export function nextStatus<Lost extends string>(
  current: string,
  isReached: boolean,
  lost: Lost,
): CommonStatus<Lost> {
  if (current === "deleting") return "deleting";
  if (isReached) return "available";
  // An instance that never was available stays `creating`, however often its engine ends; a change stays `updating`.
  return isUnderWay(current) ? current : lost;
}

const UNDER_WAY = ["creating", "restoring", "updating"] as const;

function isUnderWay(status: string): status is (typeof UNDER_WAY)[number] {
  return UNDER_WAY.some((each) => each === status);
}

/** Whether the instance has never been available, so that nothing of it need be there yet. */
export function isFirst(status: string): boolean {
  return status === "creating" || status === "restoring";
}

/** Whether clients are served: at once, or after a short hold while the instance falls asleep and wakes. */
export function isServed({ state, sleep }: Pick<Observation, "state" | "sleep">): boolean {
  if (state === "starting") return sleep?.state === "waking";
  return state === "running" || state === "asleep" || state === "draining";
}
