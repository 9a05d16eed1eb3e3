// Authenticates a client without waking its engine.
import { validFormer } from "../../contracts/users.ts";
import { openLoginKey } from "../../lib/login-keys.ts";
import { held, type Backend, type Instance } from "../backend.ts";
import type { ClientStream, Stream } from "../stream.ts";
import { EngineLogin, NotByPassword, type Proof } from "./engine-login.ts";
import { EngineError, EngineLost, ProtocolError, SQLSTATE, wrongPassword } from "./errors.ts";
import { readPasswordMessage } from "./message-reader.ts";
import { AUTHENTICATION, authentication, authenticationSasl, negotiateProtocolVersion } from "./messages.ts";
import { RetryPolicy } from "./retry-policy.ts";
import {
  isClientKeyOf,
  mechanismsFor,
  readClientFinal,
  readClientFirst,
  recoverClientKey,
  serverFinal,
  serverFirst,
  type ClientFinal,
} from "./scram-server.ts";
import { isSameHashing, makeNonce, mockVerifier, readVerifier, type Verifier } from "../../lib/scram.ts";
import type { Startup } from "./startup-packet.ts";

/** The time that a client has for each message of its login. */
export const AUTHENTICATION_MS = 10_000;

/** The verifier for a client's proof, and the login at the engine that confirmed that the verifier is in force. */
interface Secret<E extends Stream> {
  verifier: Verifier;
  /** Null while the engine does not run, and for unknown users. */
  login: EngineLogin<E> | null;
  /** Whether the users were refreshed during this login. */
  isFresh: boolean;
}

/** The proof of a client, and the login at the engine that has begun for it. */
export interface Authenticated<E extends Stream> {
  proof: Proof;
  login: EngineLogin<E> | null;
}

/**
 * Also has the client counted as logged in; the begun login at the engine ends with a client that may not stay.
 * @throws ProtocolError, EngineError, EngineUnavailable, TooManyClients, StreamEnded.
 */
export async function authenticate<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
  startup: Startup,
): Promise<Authenticated<E>> {
  // A certificate whose signature has no hash algorithm allows no channel binding.
  const endPoint = client.tls?.endPointHash.length ? client.tls.endPointHash : null;
  client.write(Buffer.concat([negotiation(startup), authenticationSasl(mechanismsFor(endPoint))]));
  const { mechanism, text } = readInitialResponse(await readPasswordMessage(client));
  const first = readClientFirst(mechanism, text, endPoint);
  const secret = await held(client, AUTHENTICATION_MS, () => findSecret(client, backend, startup));
  const { login } = secret;
  try {
    const challenge = serverFirst(first, secret.verifier, makeNonce());
    client.write(authentication(AUTHENTICATION.saslContinue, challenge));
    const answer = await readPasswordMessage(client);
    const final = readClientFinal(first, challenge, answer.toString("latin1"));
    const proof = await check(backend, startup, secret, final);
    client.identified();
    return { proof, login };
  } catch (error) {
    login?.engine.end();
    throw error;
  }
}

function negotiation({ isTooNew, unknownOptions, version }: Startup): Buffer {
  if (!isTooNew && unknownOptions.length === 0) return Buffer.alloc(0);
  return negotiateProtocolVersion(version, unknownOptions);
}

/** The members of a SASLInitialResponse: the mechanism, and its first message. */
function readInitialResponse(body: Buffer): { mechanism: string; text: string } {
  const end = body.indexOf(0);
  const dataAt = end + 5;
  if (end === -1 || dataAt > body.length || body.readInt32BE(end + 1) !== body.length - dataAt) {
    throw new ProtocolError(SQLSTATE.protocolViolation, "invalid SASLInitialResponse message");
  }
  return { mechanism: body.toString("latin1", 0, end), text: body.toString("latin1", dataAt) };
}

async function findSecret<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
  startup: Startup,
): Promise<Secret<E>> {
  const retryPolicy = new RetryPolicy(client, backend);
  for (;;) {
    if ((await backend.settled(client)) === "asleep")
      return secretOf(backend, startup, verifierOf(backend, startup), false);
    try {
      return await askEngine(backend, startup);
    } catch (error) {
      await retryPolicy.waitAfter(error);
    }
  }
}

/**
 * Asks a running engine which verifier is in force: its users may change at any time. It is asked once for known and
 * unknown users alike, so both take as long.
 * @param isAgain whether the users were just refreshed; at a refresh the host restores a published user that a customer
 *   has changed.
 */
async function askEngine<C extends ClientStream, E extends Stream>(
  backend: Backend<C, E>,
  startup: Startup,
  isAgain = false,
): Promise<Secret<E>> {
  const known = verifierOf(backend, startup);
  if (known === null) {
    if (isAgain || (await isUnknownToEngine(backend, startup)))
      return secretOf(backend, startup, null, isAgain);
    await backend.refreshUsers();
    return await askEngine(backend, startup, true);
  }
  let isFresh = isAgain;
  const { room } = backend;
  // A client that proves this password still has to log in at the engine.
  if (room === "none") return { verifier: known, login: null, isFresh };
  const engine = await backend.connectIfRunning();
  if (engine === null) throw new EngineLost();
  try {
    const login = await EngineLogin.begin(engine, startup);
    if (room === "question") login.engine.end();
    const kept = room === "question" ? null : login;
    if (isSameHashing(known, login.hashing)) return { verifier: known, login: kept, isFresh };
    isFresh = true;
    const current = await newVerifierOf(backend, startup);
    if (current !== null && isSameHashing(current, login.hashing))
      return { verifier: current, login: kept, isFresh };
    login.engine.end();
    if (current === null || isAgain) return secretOf(backend, startup, null, isFresh);
    return await askEngine(backend, startup, true);
  } catch (error) {
    if (error instanceof NotByPassword) return secretOf(backend, startup, null, isFresh);
    throw error;
  }
}

/**
 * Whether the engine answers for that name as for any unknown user. False for a user that the gateway does not know yet,
 * and where only the host can say: while the engine has no room for the question, and without the engine's nonce.
 */
async function isUnknownToEngine<C extends ClientStream, E extends Stream>(
  backend: Backend<C, E>,
  { user, parameters }: Startup,
): Promise<boolean> {
  const { mockNonce } = backend.entry;
  if (mockNonce === null || backend.room === "none") return false;
  const engine = await backend.connectIfRunning();
  if (engine === null) throw new EngineLost();
  try {
    // Only the name is sent: the engine may know it as its administrator, and no client may be that user.
    const begun = { parameters: parameters.filter(([name]) => name === "user") };
    const { hashing } = await EngineLogin.begin(engine, begun);
    return isSameHashing(hashing, mockVerifier(user, mockNonce));
  } catch (error) {
    if (error instanceof NotByPassword || (error instanceof EngineError && error.isAboutUser)) return true;
    throw error;
  } finally {
    engine.end();
  }
}

/** For unknown users a mock verifier: only the failure of the proof shows, as with a wrong password. */
function secretOf(
  { entry }: Instance,
  { user }: Startup,
  verifier: Verifier | null,
  isFresh: boolean,
): Secret<never> {
  return { verifier: verifier ?? mockVerifier(user, entry.mockNonce), login: null, isFresh };
}

function verifierOf({ entry }: Instance, { user }: Startup): Verifier | null {
  const known = entry.users.find(({ name }) => name === user);
  return known === undefined ? null : readVerifier(known.verifier);
}

async function newVerifierOf(backend: Instance, startup: Startup): Promise<Verifier | null> {
  await backend.refreshUsers();
  return verifierOf(backend, startup);
}

/** @throws ProtocolError for a wrong proof. */
async function check(
  backend: Instance,
  startup: Startup,
  { verifier, isFresh }: Pick<Secret<Stream>, "verifier" | "isFresh">,
  final: ClientFinal,
): Promise<Proof> {
  const known = proofOf(verifier, final) ?? proofByFormer(backend, startup, verifier, final);
  if (known !== null) return known;
  // Each refusal refreshes the users once, for known and unknown users alike, so both take as long.
  if (isFresh) throw wrongPassword(startup.user);
  // A new password may have the salt of the old password.
  const newer = await newVerifierOf(backend, startup);
  if (newer === null || !isSameHashing(newer, verifier)) throw wrongPassword(startup.user);
  const proof = proofOf(newer, final) ?? proofByFormer(backend, startup, newer, final);
  if (proof === null) throw wrongPassword(startup.user);
  return proof;
}

function proofOf(verifier: Verifier, final: ClientFinal): Proof | null {
  const clientKey = recoverClientKey(verifier, final);
  return clientKey === null ? null : { verifier, clientKey, welcome: welcomeOf(verifier, final) };
}

/**
 * The proof of the current password for a client that proves the former password while it is valid. Both verifiers of a
 * published user have the same salt, so the client need not say which password it has.
 * @param verifier that of the current password.
 */
function proofByFormer(
  { entry }: Instance,
  { user }: Startup,
  verifier: Verifier,
  final: ClientFinal,
): Proof | null {
  const known = entry.users.find(({ name }) => name === user);
  const former = known === undefined ? null : validFormer(known);
  if (known === undefined || former?.sealedKey === undefined) return null;
  const formerVerifier = readVerifier(former.verifier);
  if (formerVerifier === null || !isSameHashing(formerVerifier, verifier)) return null;
  const formerKey = recoverClientKey(formerVerifier, final);
  if (formerKey === null) return null;
  const clientKey = openLoginKey(former.sealedKey, formerKey, known.verifier);
  if (!isClientKeyOf(verifier, clientKey)) return null;
  return { verifier, clientKey, welcome: welcomeOf(formerVerifier, final) };
}

/** The messages that end the client's authentication; the server's signature is by the client's own password. */
function welcomeOf(verifier: Verifier, final: ClientFinal): Buffer {
  const signature = authentication(AUTHENTICATION.saslFinal, serverFinal(verifier, final));
  return Buffer.concat([signature, authentication(AUTHENTICATION.ok)]);
}
