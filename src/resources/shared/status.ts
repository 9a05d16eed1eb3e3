// The one place where an observation decides the status of an instance.
import type { Observation } from "../../drivers/driver.ts";

/** Statuses that every kind of instance has; `lost` is what a kind calls one that ran and does not at the moment. */
export type CommonStatus<Lost extends string> =
  | "creating"
  | "available"
  | "updating"
  | "deleting"
  | "unknown"
  | Lost;

/**
 * The status that follows from what was just seen.
 * @param isReached whether a login with the instance's own credentials, through its published address, worked, or did before
 *   it fell asleep.
 */
export function nextStatus<Lost extends string>(
  current: string,
  isReached: boolean,
  lost: Lost,
): CommonStatus<Lost> {
  if (current === "deleting") return "deleting";
  if (isReached) return "available";
  // One that never was available is still being created, however often its engine ends; a change is still being made.
  return current === "creating" || current === "updating" ? current : lost;
}

/** Whether clients are served: at once, or after being held for the moment that it takes to fall asleep and to wake. */
export function isServed({ state, sleep }: Pick<Observation, "state" | "sleep">): boolean {
  if (state === "starting") return sleep?.state === "waking";
  return state === "running" || state === "asleep" || state === "draining";
}
