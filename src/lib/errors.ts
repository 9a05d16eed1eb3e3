// Errors with two audiences: a public message for whoever asked, a private cause for the log.

/** An error whose message may be shown to anyone; what really happened stays in `cause`. */
export class PublicError extends Error {
  override name = "PublicError";

  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
  }
}

/** A reason not to start or not to go on, told as one clear sentence; the program then exits with 1. */
export class Refusal extends PublicError {
  override name = "Refusal";
}

/** What anyone may read of an error. @param otherwise stands for what only the log may say. */
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
