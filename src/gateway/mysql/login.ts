// Logs an authenticated client in at the engine.
import { EngineUnavailable, type Backend } from "../backend.ts";
import type { WakeReason } from "../../contracts/sleep.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { DEPRECATE_EOF } from "./capabilities.ts";
import { accessDenied, isError, isShutdown, parseError, ProtocolError } from "./errors.ts";
import { parseGreeting } from "./greeting.ts";
import { applicationOf, engineResponse, type HandshakeResponse } from "./handshake-response.ts";
import { NATIVE_PASSWORD, SALT_BYTES, tokenOf } from "../../lib/native-password.ts";
import { NotThisProtocol, PacketStream } from "./packets.ts";
import { MalformedPayload, PayloadReader } from "./payload-reader.ts";

const OK = 0x00;
const AUTH_SWITCH = 0xfe;
/** How often a login is tried at an engine that stops during it. */
const MAX_ATTEMPTS = 20;
const RETRY_MS = 50;

/** A session at the engine. */
export interface Session<E extends Stream> {
  engine: E;
  /** The engine's number for the session. */
  threadId: number;
  /** The engine's OK, for the client. */
  answer: Uint8Array;
  /** Whether the flag DEPRECATE_EOF is in force. */
  deprecatesEof: boolean;
}

/**
 * Wakes the engine if need be. A login at an engine that stops meanwhile is tried again.
 * @param passwordHash SHA1(password), recovered from the client's proof.
 * @throws ProtocolError with the engine's own error; EngineUnavailable; StreamEnded when the client has gone.
 */
export async function logIn<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
  response: HandshakeResponse,
  passwordHash: Uint8Array,
): Promise<Session<E>> {
  const reason = reasonOf(client, response);
  let hasAsked = false;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const engine = await backend.connect(client, reason);
    let session: Session<E> | null = null;
    try {
      session = await enter(engine, response, passwordHash);
    } catch (error) {
      if (hasAsked || !isAboutUser(error)) throw error;
      // The refresh has the host restore a published user that a customer has changed: the login may work now.
      hasAsked = true;
      await backend.refreshUsers();
      continue;
    }
    if (session !== null) return session;
    await backend.pause(client, RETRY_MS);
  }
  throw new EngineUnavailable("the database ends all connections; try again");
}

/** Errors about the user: a wrong password, an expired password, a locked account. */
const ABOUT_USER = new Set([1045, 1820, 1862, 4151]);

function isAboutUser(error: unknown): boolean {
  return error instanceof ProtocolError && ABOUT_USER.has(error.code);
}

/** @returns null when the engine stops or closes the connection. */
async function enter<E extends Stream>(
  engine: E,
  response: HandshakeResponse,
  passwordHash: Uint8Array,
): Promise<Session<E> | null> {
  try {
    const session = await converse(engine, response, passwordHash);
    if (session === null) engine.end();
    return session;
  } catch (error) {
    engine.end();
    const isBroken =
      error instanceof StreamEnded || error instanceof NotThisProtocol || error instanceof MalformedPayload;
    if (isBroken) return null;
    throw error;
  }
}

async function converse<E extends Stream>(
  engine: E,
  response: HandshakeResponse,
  passwordHash: Uint8Array,
): Promise<Session<E> | null> {
  const packets = new PacketStream(engine);
  const greeting = await packets.receive();
  if (isError(greeting)) return passOn(greeting);
  const { salt, threadId } = parseGreeting(greeting);
  packets.send(engineResponse(response, tokenOf(passwordHash, salt)));
  let answer = await packets.receive();
  if (answer[0] === AUTH_SWITCH) {
    packets.send(tokenOf(passwordHash, switchedSalt(answer, response)));
    answer = await packets.receive();
  }
  if (isError(answer)) return passOn(answer);
  if (answer[0] !== OK) throw refused(response);
  // Every engine knows all client flags that the gateway passes on.
  const deprecatesEof = (response.capabilities & DEPRECATE_EOF) !== 0;
  return { engine, threadId, answer, deprecatesEof };
}

/** @returns null for an engine that stops. @throws ProtocolError with any other error of the engine. */
function passOn(payload: Uint8Array): null {
  const error = parseError(payload);
  if (isShutdown(error)) return null;
  throw error;
}

/** The salt of an AuthSwitchRequest. @throws ProtocolError for any plugin but mysql_native_password. */
function switchedSalt(request: Uint8Array, response: HandshakeResponse): Uint8Array {
  const reader = new PayloadReader(request, 1);
  const plugin = reader.isAtEnd ? "" : new TextDecoder().decode(reader.untilZeroOrEnd());
  if (plugin !== NATIVE_PASSWORD) throw refused(response);
  return reader.bytes(SALT_BYTES);
}

function refused({ user }: HandshakeResponse): Error {
  return accessDenied(user, "localhost", true);
}

function reasonOf(client: ClientStream, response: HandshakeResponse): WakeReason {
  const application = applicationOf(response);
  const { user, database } = response;
  return {
    user,
    ...(database === null || database.length === 0 ? {} : { database: new TextDecoder().decode(database) }),
    ...(application === null ? {} : { application }),
    address: client.address,
  };
}
