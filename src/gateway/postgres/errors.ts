// The errors that end a session early, with the messages to its client.
import { fatalError, readErrorFields, type ErrorFields } from "./messages.ts";

/** The codes of the gateway's own errors (PostgreSQL documentation, "PostgreSQL Error Codes"). */
export const SQLSTATE = {
  protocolViolation: "08P01",
  featureNotSupported: "0A000",
  invalidAuthorization: "28000",
  invalidPassword: "28P01",
  adminShutdown: "57P01",
  crashShutdown: "57P02",
  cannotConnectNow: "57P03",
  tooManyConnections: "53300",
  internalError: "XX000",
} as const;

const AUTH_FAILED = { file: "auth.c", routine: "auth_failed" };

/** Ends a session with an error message to its client. */
export class ProtocolError extends Error {
  readonly #code: string;
  readonly #detail: string | undefined;
  readonly #origin: ErrorFields["origin"];

  /** @param message may be shown to anyone. */
  constructor(code: string, message: string, detail?: string, origin?: ErrorFields["origin"]) {
    super(message);
    this.name = "ProtocolError";
    this.#code = code;
    this.#detail = detail;
    this.#origin = origin;
  }

  /** The error as an ErrorResponse. */
  toBytes(): Buffer {
    return fatalError({
      code: this.#code,
      message: this.message,
      detail: this.#detail,
      origin: this.#origin,
    });
  }
}

/** The answer of Postgres to a wrong password, and to the name of an unknown role. */
export function wrongPassword(user: string): ProtocolError {
  const text = `password authentication failed for user "${user}"`;
  return new ProtocolError(SQLSTATE.invalidPassword, text, undefined, AUTH_FAILED);
}

/** The answer of Postgres itself. */
export function tooManyClients(): ProtocolError {
  return new ProtocolError(SQLSTATE.tooManyConnections, "sorry, too many clients already");
}

/** The engine's own error at a login. */
export class EngineError extends Error {
  readonly #bytes: Uint8Array;
  /** Whether the error is about the engine's start or stop, so that a later login may work. */
  readonly isPassing: boolean;
  /** Whether the error refuses the user, even though the gateway has a verifier for the user. */
  readonly isAboutUser: boolean;

  /**
   * @param bytes the messages to the client, of which the ErrorResponse is the last.
   * @param body the body of the ErrorResponse.
   */
  constructor(bytes: Uint8Array, body: Buffer) {
    const { code, message } = readErrorFields(body);
    super(message);
    this.name = "EngineError";
    this.#bytes = bytes;
    const passing: string[] = [SQLSTATE.adminShutdown, SQLSTATE.crashShutdown, SQLSTATE.cannotConnectNow];
    this.isPassing = passing.includes(code);
    // Class 28 is about the login itself; 58P01 is a missing library that a setting of the user names.
    this.isAboutUser = code.startsWith("28") || code === "58P01";
  }

  /** The messages to the client. */
  toBytes(): Uint8Array {
    return this.#bytes;
  }
}

/** The engine closed a connection before a login was complete. */
export class EngineLost extends Error {
  constructor() {
    super("the database closed the connection");
    this.name = "EngineLost";
  }
}

/** Whether the same login may work a little later. */
export function isPassing(error: unknown): boolean {
  return error instanceof EngineLost || (error instanceof EngineError && error.isPassing);
}
