// Errors of the API, and how any thrown error becomes such an answer.
import { codeOf, PublicError } from "../../lib/errors.ts";

/** Every failing field as the client wrote it, each with sentences about its faults. */
export type FieldErrors = Record<string, string[]>;

/** An error answer; its message and its fields are public. */
export class ApiError extends PublicError {
  override name = "ApiError";
  readonly status: number;
  readonly errors: FieldErrors | undefined;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    message: string,
    extra: { errors?: FieldErrors; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, extra.cause);
    this.status = status;
    this.errors = extra.errors;
    this.headers = extra.headers ?? {};
  }

  /** The body of the answer. */
  get document(): { message: string; errors?: FieldErrors } {
    return this.errors === undefined
      ? { message: this.message }
      : { message: this.message, errors: this.errors };
  }
}

export function unauthenticated(): ApiError {
  return new ApiError(401, "Unauthenticated.", { headers: { "WWW-Authenticate": "Bearer" } });
}

/** @param needed the abilities of which any would do, or a sentence that says what is missing. */
export function forbidden(needed: readonly string[] | string): ApiError {
  const reason =
    typeof needed === "string"
      ? needed
      : `It needs the ability ${needed.map((name) => `\`${name}\``).join(" or ")}.`;
  return new ApiError(403, `This action is unauthorized. ${reason}`);
}

/** @param what the kind of resource in the singular, such as `cache`. */
export function notFound(what: string): ApiError {
  return new ApiError(404, `There is no such ${what}.`);
}

/** A 422 that names every failing field. */
export function invalid(errors: FieldErrors): ApiError {
  const fields = Object.keys(errors);
  const subject = fields.length === 1 ? "This field is" : "These fields are";
  return new ApiError(422, `${subject} not valid: ${fields.join(", ")}.`, { errors });
}

/** Names for a message, without repetitions. */
export function quoted(names: readonly string[]): string {
  return [...new Set(names)].map((name) => `\`${name}\``).join(", ");
}

/** The answer for any thrown error. */
export function apiErrorOf(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isStoreUnreachable(error)) {
    return new ApiError(503, "The service cannot reach its store at the moment. Try again soon.", {
      headers: { "Retry-After": "2" },
      cause: error,
    });
  }
  return new ApiError(500, "Something went wrong here. The log has the details under the request id.", {
    cause: error,
  });
}

/** Connection failures of Bun's client and of the system, as opposed to errors of a server that answers. */
const UNREACHABLE_CODES =
  /^(ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME)|ECONN|ENOENT|ETIMEDOUT|FailedToOpenSocket)/;

/** SQLSTATE classes of a server that is starting, stopping, gone, or has no connections, memory or disk left. */
const UNREACHABLE_STATES = /^(08|57P|53)/;

function isStoreUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (UNREACHABLE_CODES.test(codeOf(error) ?? "")) return true;
  return "errno" in error && UNREACHABLE_STATES.test(String(error.errno));
}
