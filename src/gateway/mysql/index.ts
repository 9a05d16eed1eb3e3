// Serves clients that speak the MySQL protocol: greets at once, checks passwords, and wakes the engine for those who know one.
import { EngineUnavailable, TooManyClients, type Backend, type ProtocolHandler } from "../backend.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { Answers } from "./answers.ts";
import { authenticate, LOGIN_MS, readHandshakeResponse, readToken, type Candidate } from "./authenticate.ts";
import { usersWithPasswords } from "./change-user.ts";
import { traitsOf } from "./engine-traits.ts";
import { badHandshake, errorPayload, ProtocolError, tooManyConnections, unavailable } from "./errors.ts";
import { greetingPayload } from "./greeting.ts";
import { logIn, type Session } from "./login.ts";
import { newSalt } from "./native-password.ts";
import { NotThisProtocol, PacketStream } from "./packets.ts";
import { MalformedPayload } from "./payload-reader.ts";
import { makeThreadId, threadIdsOf } from "./thread-ids.ts";
import { MysqlFramer } from "./framer.ts";

/** Wakes nothing for anyone who has not proved to know the password of a user. */
export const mysqlHandler: ProtocolHandler = async (client, backend) => {
  const salt = newSalt();
  const candidate = { client, packets: new PacketStream(client), salt, speaksVersion41: true };
  try {
    await serve(candidate, backend);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== null) candidate.packets.send(errorPayload(refusal, candidate.speaksVersion41));
  } finally {
    // Clients of an engine that goes to sleep are told nothing: an error that nobody asked for has the wrong number for the
    // answer to their next command, which some take for a broken connection and warn of.
    client.end();
  }
};

async function serve<C extends ClientStream, E extends Stream>(
  candidate: Candidate<C>,
  backend: Backend<C, E>,
): Promise<void> {
  const { client, packets, salt } = candidate;
  client.setDeadline(LOGIN_MS);
  // The engine's own number would take one of its connections for each stranger.
  const threadId = makeThreadId();
  packets.send(greetingPayload({ threadId, salt }, traitsOf(backend.entry.engine), client.canStartTls));
  const response = await readHandshakeResponse(candidate);
  const token = await readToken(candidate, response);
  const passwordHash = await authenticate(candidate, backend, response.user, token);
  client.identified();
  client.setDeadline(null);
  await pass(candidate, backend, threadId, await logIn(client, backend, response, passwordHash));
}

async function pass<C extends ClientStream, E extends Stream>(
  { client, packets }: Candidate<C>,
  backend: Backend<C, E>,
  threadId: number,
  session: Session<E>,
): Promise<void> {
  const threadIds = threadIdsOf(backend);
  threadIds.set(threadId, session.threadId);
  try {
    packets.send(session.answer);
    backend.loggedIn(client);
    const answers = new Answers(session.deprecatesEof);
    const framer = new MysqlFramer(usersWithPasswords(backend), threadIds, answers);
    await backend.splice(client, session.engine, framer);
  } finally {
    threadIds.delete(threadId);
    session.engine.end();
  }
}

/**
 * What a client is told at the end of its login; null for those that have gone or never spoke the protocol.
 * @throws what is a fault of the gateway's own.
 */
function refusalOf(error: unknown): ProtocolError | null {
  if (error instanceof ProtocolError) return error;
  if (error instanceof TooManyClients) return tooManyConnections();
  if (error instanceof EngineUnavailable) return unavailable(error.message);
  if (error instanceof MalformedPayload) return badHandshake();
  if (error instanceof StreamEnded || error instanceof NotThisProtocol) return null;
  throw error;
}
