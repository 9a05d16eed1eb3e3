// The protocol handler of MySQL: greets at once, checks passwords, and wakes the engine only for logged-in clients.
import { EngineUnavailable, TooManyClients, type Backend, type ProtocolHandler } from "../backend.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { Answers } from "./answers.ts";
import { authenticate, LOGIN_MS, readHandshakeResponse, readToken, type Candidate } from "./authenticate.ts";
import { withCertificateProof, type CertificateProof } from "./certificate-proof.ts";
import { usersWithPasswords } from "./change-user.ts";
import { traitsOf } from "./engine-traits.ts";
import { badHandshake, errorPayload, ProtocolError, tooManyConnections, unavailable } from "./errors.ts";
import { greetingPayload } from "./greeting.ts";
import { logIn, type Session } from "./login.ts";
import { newSalt } from "../../lib/native-password.ts";
import { NotThisProtocol, PacketStream } from "./packets.ts";
import { MalformedPayload } from "./payload-reader.ts";
import { makeThreadId, threadIdsOf } from "./thread-ids.ts";
import { MysqlFramer } from "./framer.ts";

/** Wakes nothing for a client that has not proved the password of a user. */
export const mysqlHandler: ProtocolHandler = async (client, backend) => {
  const salt = newSalt();
  const candidate = { client, packets: new PacketStream(client), salt, speaksVersion41: true };
  try {
    await serve(candidate, backend);
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal !== null) candidate.packets.send(errorPayload(refusal, candidate.speaksVersion41));
  } finally {
    // A client whose engine goes to sleep gets no error: an unasked error has the wrong sequence number for the answer
    // to the client's next command, and some clients warn of a broken connection then.
    client.end();
  }
};

async function serve<C extends ClientStream, E extends Stream>(
  candidate: Candidate<C>,
  backend: Backend<C, E>,
): Promise<void> {
  const { client, packets, salt } = candidate;
  client.setDeadline(LOGIN_MS);
  // The engine's own number would cost a connection to the engine for each client before its login.
  const threadId = makeThreadId();
  const traits = traitsOf(backend.entry.engine);
  packets.send(greetingPayload({ threadId, salt }, traits, client.canStartTls));
  const response = await readHandshakeResponse(candidate);
  const token = await readToken(candidate, response);
  const { verifier, passwordHash } = await authenticate(candidate, backend, response.user, token);
  client.identified();
  client.setDeadline(null);
  const session = await logIn(client, backend, response, passwordHash);
  const fingerprint = traits.provesCertificate ? client.tls?.fingerprint : undefined;
  const proved = fingerprint === undefined ? null : { verifier, salt, fingerprint };
  await pass(candidate, backend, threadId, session, proved);
}

async function pass<C extends ClientStream, E extends Stream>(
  { client, packets }: Candidate<C>,
  backend: Backend<C, E>,
  threadId: number,
  session: Session<E>,
  proved: CertificateProof | null,
): Promise<void> {
  const threadIds = threadIdsOf(backend);
  threadIds.set(threadId, session.threadId);
  try {
    packets.send(proved === null ? session.answer : withCertificateProof(session.answer, proved));
    backend.loggedIn(client, session.threadId);
    const answers = new Answers(session.deprecatesEof);
    const framer = new MysqlFramer(usersWithPasswords(backend), threadIds, answers);
    await backend.splice(client, session.engine, framer);
  } finally {
    threadIds.delete(threadId);
    session.engine.end();
  }
}

/**
 * The error for a client whose login failed; null for a client that has gone or never spoke the protocol.
 * @throws every error that is a fault of the gateway.
 */
function refusalOf(error: unknown): ProtocolError | null {
  if (error instanceof ProtocolError) return error;
  if (error instanceof TooManyClients) return tooManyConnections();
  if (error instanceof EngineUnavailable) return unavailable(error.message);
  if (error instanceof MalformedPayload) return badHandshake();
  if (error instanceof StreamEnded || error instanceof NotThisProtocol) return null;
  throw error;
}
