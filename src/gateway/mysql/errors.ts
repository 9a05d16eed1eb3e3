// The gateway's own errors in the MySQL protocol.
import { PayloadReader } from "./payload-reader.ts";

const ERR = 0xff;
const STATE_MARK = 0x23;
const TOO_MANY_CONNECTIONS = 1040;

/** An error that is sent to a client and ends its connection. */
export class ProtocolError extends Error {
  readonly code: number;
  /** The SQL state, five characters. */
  readonly state: string;

  constructor(code: number, state: string, message: string) {
    super(message);
    this.name = "ProtocolError";
    this.code = code;
    this.state = state;
  }
}

/**
 * A failed login, in the engine's words.
 * @param host the address without the port.
 */
export function accessDenied(user: string, host: string, hasPassword: boolean): ProtocolError {
  const using = hasPassword ? "YES" : "NO";
  return new ProtocolError(
    1045,
    "28000",
    `Access denied for user '${user.slice(0, 128)}'@'${host}' (using password: ${using})`,
  );
}

export function badHandshake(): ProtocolError {
  return new ProtocolError(1043, "08S01", "Bad handshake");
}

/** A client from before version 4.1. */
export function tooOldClient(): ProtocolError {
  return new ProtocolError(
    1251,
    "08004",
    "Client does not support authentication protocol requested by server; consider upgrading MariaDB client",
  );
}

/** A client that asks for the compressed protocol although the greeting did not offer it, and so would wait for ever. */
export function compressionRefused(): ProtocolError {
  return new ProtocolError(1043, "08S01", "This server does not offer compression; connect without it");
}

export function insecureTransport(): ProtocolError {
  return new ProtocolError(
    3159,
    "HY000",
    "Connections using insecure transport are prohibited while --require_secure_transport=ON.",
  );
}

/** MariaDB's own error. */
export function tooManyConnections(): ProtocolError {
  return new ProtocolError(TOO_MANY_CONNECTIONS, "08004", "Too many connections");
}

/**
 * An engine that is unavailable now. Codes from 2000 on belong to client libraries, and 1040 would say that closing
 * connections helps. 1053 is the error of a server that stops or starts; pools and frameworks try again after its state
 * 08S01, a failed link.
 */
export function unavailable(message: string): ProtocolError {
  return new ProtocolError(1053, "08S01", message);
}

/** @param hasState whether the client speaks version 4.1 of the protocol, in which errors have an SQL state. */
export function errorPayload({ code, state, message }: ProtocolError, hasState: boolean): Uint8Array {
  const text = new TextEncoder().encode(hasState ? `#${state}${message}` : message);
  return new Uint8Array([ERR, code & 0xff, code >> 8, ...text]);
}

/** Whether a payload is an error. */
export function isError(payload: Uint8Array): boolean {
  return payload[0] === ERR;
}

/**
 * The error in a payload. An engine that refuses a connection before the handshake leaves the state out.
 * @throws MalformedPayload
 */
export function parseError(payload: Uint8Array): ProtocolError {
  const reader = new PayloadReader(payload, 1);
  const code = reader.uint(2);
  const text = reader.rest();
  const decoder = new TextDecoder();
  if (text[0] !== STATE_MARK) return new ProtocolError(code, stateOf(code), decoder.decode(text));
  return new ProtocolError(code, decoder.decode(text.subarray(1, 6)), decoder.decode(text.subarray(6)));
}

const SERVER_SHUTDOWN = 1053;

function stateOf(code: number): string {
  if (code === TOO_MANY_CONNECTIONS) return "08004";
  return code === SERVER_SHUTDOWN ? "08S01" : "HY000";
}

/** Whether the error says that the engine stops, so that the next engine process is worth an attempt. */
export function isShutdown(error: ProtocolError): boolean {
  return error.code === SERVER_SHUTDOWN;
}
