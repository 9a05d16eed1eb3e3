// The ways in which a session ends before its time, and what its client is told of them.
import { fatalError, readErrorFields } from "./messages.ts";

/** Conditions that the gateway tells by itself (PostgreSQL documentation, "PostgreSQL Error Codes"). */
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

/** Ends a session with an error that its client is told. */
export class ProtocolError extends Error {
  readonly #code: string;
  readonly #detail: string | undefined;

  /** @param message may be shown to anyone. */
  constructor(code: string, message: string, detail?: string) {
    super(message);
    this.name = "ProtocolError";
    this.#code = code;
    this.#detail = detail;
  }

  /** As the client is told. */
  toBytes(): Buffer {
    return fatalError({ code: this.#code, message: this.message, detail: this.#detail });
  }
}

/** What Postgres answers to whoever gives a wrong password, or the name of a role that does not exist. */
export function wrongPassword(user: string): ProtocolError {
  return new ProtocolError(SQLSTATE.invalidPassword, `password authentication failed for user "${user}"`);
}

/** What Postgres itself says. */
export function tooManyClients(): ProtocolError {
  return new ProtocolError(SQLSTATE.tooManyConnections, "sorry, too many clients already");
}

/** The engine's own error at a login. */
export class EngineError extends Error {
  readonly #bytes: Uint8Array;
  /** Whether it is about the engine's start or end, so that a later login may well work. */
  readonly isPassing: boolean;
  /** Whether it keeps out a user that the gateway knows as one that may log in. */
  readonly isAboutUser: boolean;

  /**
   * @param bytes the ErrorResponse, and what the client has to be told before it.
   * @param body of the ErrorResponse.
   */
  constructor(bytes: Uint8Array, body: Buffer) {
    const { code, message } = readErrorFields(body);
    super(message);
    this.name = "EngineError";
    this.#bytes = bytes;
    const passing: string[] = [SQLSTATE.adminShutdown, SQLSTATE.crashShutdown, SQLSTATE.cannotConnectNow];
    this.isPassing = passing.includes(code);
    // Class 28 is about the login itself; the other is a library that a user's own setting names and that is not there.
    this.isAboutUser = code.startsWith("28") || code === "58P01";
  }

  /** As the client is told. */
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

/** Whether the same login may well work a little later. */
export function isPassing(error: unknown): boolean {
  return error instanceof EngineLost || (error instanceof EngineError && error.isPassing);
}
