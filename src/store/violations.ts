// Errors of the store that a request itself can cause.

const UNIQUE_VIOLATION = "23505";

/** Whether a statement failed because another row has the same unique value. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Error && "errno" in error && String(error.errno) === UNIQUE_VIOLATION;
}
