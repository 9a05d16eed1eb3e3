// The one place where the status of an instance is decided.

/** Statuses that every kind of instance has; `lost` is what a kind calls one that ran and does not at the moment. */
export type CommonStatus<Lost extends string> = "creating" | "available" | "deleting" | "unknown" | Lost;

/**
 * The status that follows from what was just seen.
 * @param isReached whether a login with the instance's own credentials, through its published address, worked.
 */
export function nextStatus<Lost extends string>(
  current: string,
  isReached: boolean,
  lost: Lost,
): CommonStatus<Lost> {
  if (current === "deleting") return "deleting";
  if (isReached) return "available";
  // One that never was available is still being created, however often its engine ends.
  return current === "creating" ? "creating" : lost;
}
