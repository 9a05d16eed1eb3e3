// Recognizes errors of the store: violations by a request, refused values, and deadlocks with another transaction.

const DEADLOCK_DETECTED = "40P01";
const FOREIGN_KEY_VIOLATION = "23503";
const UNIQUE_VIOLATION = "23505";

/** The classes of data exceptions, violated constraints, and exceeded limits. */
const REFUSALS = new Set(["22", "23", "54"]);

/** Whether a statement failed because another row has the same unique value. */
export function isUniqueViolation(error: unknown): boolean {
  return stateOf(error) === UNIQUE_VIOLATION;
}

/** Whether a statement failed because the organization of its row was deleted meanwhile. */
export function isOrganizationGone(error: unknown): boolean {
  return (
    stateOf(error) === FOREIGN_KEY_VIOLATION &&
    error instanceof Error &&
    "constraint" in error &&
    String(error.constraint).endsWith("_organization_id_fkey")
  );
}

/** Whether Postgres ended a transaction because it and others waited for each other. */
export function isDeadlock(error: unknown): boolean {
  return stateOf(error) === DEADLOCK_DETECTED;
}

/** Whether Postgres refused the values of a statement, which it refuses each time: they are invalid or too large. */
export function isRefused(error: unknown): boolean {
  return REFUSALS.has(stateOf(error)?.slice(0, 2) ?? "");
}

/** The SQLSTATE. */
function stateOf(error: unknown): string | undefined {
  return error instanceof Error && "errno" in error ? String(error.errno) : undefined;
}
