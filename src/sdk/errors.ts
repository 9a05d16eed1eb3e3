// The errors that the client throws: Pilvi refused, or Pilvi could not be reached.

/** What the engine of a database said about a statement. */
export interface EngineFault {
  code: string;
  /** The character of the statement that the fault is about, from 1; null where the engine gives none. */
  position: number | null;
  detail: string | null;
  hint: string | null;
}

/** An answer that is not a success. The message is Pilvi's own, for people. */
export class PilviError extends Error {
  override name = "PilviError";
  /** The HTTP status, such as 422. */
  readonly status: number;
  /** Every failing field with sentences about its faults; undefined unless the request did not fit. */
  readonly errors: Record<string, string[]> | undefined;
  /** The id that finds the request in the log of Pilvi. */
  readonly requestId: string | undefined;

  /** Undefined unless an engine refused a statement. */
  readonly engine: EngineFault | undefined;

  constructor(
    message: string,
    status: number,
    errors?: Record<string, string[]>,
    requestId?: string,
    engine?: EngineFault,
  ) {
    super(message);
    this.status = status;
    this.errors = errors;
    this.requestId = requestId;
    this.engine = engine;
  }
}

/** No answer came; the message names the address, and the remedy where it is known. */
export class PilviUnreachable extends Error {
  override name = "PilviUnreachable";
}

/** The answers of Pilvi, or of a proxy before it, while it starts or is being restarted. */
const ABSENT_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether an error means that Pilvi is away, and may be back for a later request. */
export function isAbsence(error: unknown): error is PilviError | PilviUnreachable {
  if (error instanceof PilviUnreachable) return true;
  return error instanceof PilviError && ABSENT_STATUSES.has(error.status);
}

/** Makes the error for an answer from `url` with the given text, which is JSON unless another server than Pilvi answered. */
export function errorOfAnswer(
  url: string,
  status: number,
  text: string,
  requestId: string | undefined,
): PilviError {
  const { message, errors, engine } = membersOf(text);
  const sentence =
    typeof message === "string"
      ? message
      : `The server at ${url} answered with status ${status} and no message.`;
  const fields = isFieldErrors(errors) ? errors : undefined;
  return new PilviError(sentence, status, fields, requestId, isEngineFault(engine) ? engine : undefined);
}

/** Makes the error for a request that got no answer from `url`. */
export function errorOfLoss(url: string, error: unknown): PilviUnreachable {
  const code = networkCodeOf(error) ?? "";
  const silence = `Pilvi does not answer at ${url}`;
  if (code === "ECONNREFUSED") {
    const advice = isThisMachine(url) ? " Start it with: npm start" : "";
    return new PilviUnreachable(`${silence}.${advice}`, { cause: error });
  }
  if (error instanceof DOMException && error.name === "TimeoutError") {
    return new PilviUnreachable(`${silence} in time.`, { cause: error });
  }
  if (isReset(code)) {
    return new PilviUnreachable(`The connection to ${url} broke off before Pilvi had answered.`, {
      cause: error,
    });
  }
  const failure = networkFailureOf(error);
  const reason = failure instanceof Error ? failure.message : String(failure);
  const advice = code.includes("CERT")
    ? " Put the certificate of its authority into a file that NODE_EXTRA_CA_CERTS names."
    : "";
  const end = /[.?!]$/.test(reason) ? "" : ".";
  return new PilviUnreachable(`${silence}: ${reason}${end}${advice}`, { cause: error });
}

/** Whether a code means that the connection ended before the answer; the second is the word of Node's `fetch`. */
export function isReset(code: string | undefined): boolean {
  return code === "ECONNRESET" || code === "UND_ERR_SOCKET";
}

/** The code in a failure of `fetch`, such as `ECONNRESET`. */
export function networkCodeOf(error: unknown): string | undefined {
  const failure = networkFailureOf(error);
  if (!(failure instanceof Error) || !("code" in failure)) return undefined;
  return typeof failure.code === "string" ? failure.code : undefined;
}

/** Node wraps the failure of the network into a `TypeError`. */
function networkFailureOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
}

function membersOf(text: string): { message?: unknown; errors?: unknown; engine?: unknown } {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === "object" && document !== null ? document : {};
  } catch {
    return {};
  }
}

function isFieldErrors(value: unknown): value is Record<string, string[]> {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every(
      (texts) => Array.isArray(texts) && texts.every((text) => typeof text === "string"),
    )
  );
}

function isEngineFault(value: unknown): value is EngineFault {
  return typeof value === "object" && value !== null && "code" in value && typeof value.code === "string";
}

function isThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname);
}
