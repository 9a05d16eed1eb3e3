// Errors of the API, and how any thrown error becomes such an answer.
import { BusyError, codeOf, PublicError, UnreachableError } from "../../lib/errors.ts";
import { isOrganizationGone } from "../../store/violations.ts";

/** Every failing field as the client wrote it, each with sentences about its faults. */
export type FieldErrors = Record<string, string[]>;

/** What an engine of a customer said about the customer's own statement. */
export interface EngineFault {
  /** The error's code as the engine has it. */
  code: string;
  /** The character of the statement that the fault is about, from 1; null where the engine gives none. */
  position: number | null;
  detail: string | null;
  hint: string | null;
}

/** The parts of an error answer beside its message and status. */
interface ErrorParts {
  errors?: FieldErrors;
  engine?: EngineFault;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** An error answer; its message, its fields and an engine's fault are public. */
export class ApiError extends PublicError {
  override name = "ApiError";
  readonly status: number;
  readonly errors: FieldErrors | undefined;
  readonly engine: EngineFault | undefined;
  readonly headers: Record<string, string>;

  constructor(status: number, message: string, parts: ErrorParts = {}) {
    super(message, parts.cause);
    this.status = status;
    this.errors = parts.errors;
    this.engine = parts.engine;
    this.headers = parts.headers ?? {};
  }

  /** The body of the answer. */
  get document(): { message: string; errors?: FieldErrors; engine?: EngineFault } {
    return {
      message: this.message,
      ...(this.errors && { errors: this.errors }),
      ...(this.engine && { engine: this.engine }),
    };
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
  // Its token or session ended with the organization, between the authentication and this statement.
  if (isOrganizationGone(error)) return unauthenticated();
  if (isStoreUnreachable(error)) {
    return new ApiError(503, "The service cannot reach its store at the moment. Try again soon.", {
      headers: { "Retry-After": "2" },
      cause: error,
    });
  }
  if (error instanceof UnreachableError || error instanceof BusyError) {
    return new ApiError(503, error.message, { headers: { "Retry-After": "2" }, cause: error });
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
