// Errors with two audiences: a public message for the caller, a private cause for the log.

/** An error whose message may be shown to anyone; the true reason stays in `cause`. */
export class PublicError extends Error {
  override name = "PublicError";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** A part of Pilvi that does not answer now, and will again; nothing is said about what it was asked for. */
export class UnreachableError extends PublicError {
  override name = "UnreachableError";
}

/** A part of Pilvi that answers, and has no room now for what it was asked for. */
export class BusyError extends PublicError {
  override name = "BusyError";
}

/** A reason not to start or not to go on, as one clear sentence; the program then exits with 1. */
export class Refusal extends PublicError {
  override name = "Refusal";
}

/** Whether an error says what is wrong with what was asked for; after all others the same is tried again. */
export function isFault(error: unknown): error is PublicError {
  return (
    error instanceof PublicError && !(error instanceof UnreachableError) && !(error instanceof BusyError)
  );
}

/**
 * The part of an error that anyone may read.
 * @param otherwise takes the place of a message that only the log may have.
 */
export function publicMessageOf(error: unknown, otherwise: string): string {
  return error instanceof PublicError ? error.message : otherwise;
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a system error such as `ENOENT`, or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
