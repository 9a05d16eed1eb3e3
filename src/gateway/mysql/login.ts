// Logs a client that has proved who it is in at the engine.
import { EngineUnavailable, type Backend } from "../backend.ts";
import type { WakeReason } from "../link.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { DEPRECATE_EOF } from "./capabilities.ts";
import { accessDenied, isError, isShutdown, parseError, ProtocolError } from "./errors.ts";
import { parseGreeting } from "./greeting.ts";
import { applicationOf, engineResponse, type HandshakeResponse } from "./handshake-response.ts";
import { NATIVE_PASSWORD, SALT_BYTES, tokenOf } from "./native-password.ts";
import { NotThisProtocol, PacketStream } from "./packets.ts";
import { MalformedPayload, PayloadReader } from "./payload-reader.ts";

const OK = 0x00;
const AUTH_SWITCH = 0xfe;
/** An engine that goes away while a client logs in may do so again, but not for ever. */
const MAX_ATTEMPTS = 20;
const RETRY_MS = 50;

/** A session at the engine. */
export interface Session<E extends Stream> {
  engine: E;
  /** The engine's number for it. */
  threadId: number;
  /** Its OK, for the client. */
  answer: Uint8Array;
  /** Whether it leaves out what the flag of that name says. */
  deprecatesEof: boolean;
}

/**
 * Wakes the engine if need be. One that goes away meanwhile is asked again.
 * @param passwordHash SHA1(password), which the client has proved to know.
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
      // The host sets a published user again that a customer has changed, so the same login may work now.
      hasAsked = true;
      await backend.refreshUsers();
      continue;
    }
    if (session !== null) return session;
    await backend.pause(client, RETRY_MS);
  }
  throw new EngineUnavailable("the database ends all connections; try again");
}

/** A wrong password, a password that has expired, or a locked account, of a user whose password the gateway knows. */
const ABOUT_USER = new Set([1045, 1820, 1862, 4151]);

function isAboutUser(error: unknown): boolean {
  return error instanceof ProtocolError && ABOUT_USER.has(error.code);
}

/** Null when the engine goes away. */
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
  // All that the gateway passes on of a client's flags is known to every engine.
  const deprecatesEof = (response.capabilities & DEPRECATE_EOF) !== 0;
  return { engine, threadId, answer, deprecatesEof };
}

/** @throws ProtocolError with the engine's words, unless it says that it goes away. */
function passOn(payload: Uint8Array): null {
  const error = parseError(payload);
  if (isShutdown(error)) return null;
  throw error;
}

/** The salt of an AuthSwitchRequest. What another plugin wants to know cannot be told. */
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
