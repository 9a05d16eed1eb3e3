// The protocol handler of caches: RESP2 and RESP3, with clients that stay connected while their cache sleeps.
import { EngineUnavailable, TooManyClients, type Backend, type ProtocolHandler } from "../backend.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { EngineError } from "./session-replay.ts";
import { OfflineResponder, LOGIN_MS } from "./offline-responder.ts";
import { captureSession } from "./session-capture.ts";
import { errorReply, TOO_MANY_CLIENTS } from "./replies.ts";
import { newSession, type Session } from "./session.ts";

/** The first byte of a TLS handshake (RFC 8446, 5.1); no command begins with it. */
const TLS_HANDSHAKE = 0x16;

export const redisHandler: ProtocolHandler = async (client, backend) => {
  try {
    if (await startSafely(client)) await serve(client, backend);
  } catch (error) {
    const farewell = farewellOf(error);
    if (farewell !== "") client.write(Buffer.from(farewell, "latin1"));
  } finally {
    client.end();
  }
};

/** Begins TLS if the client wants it. @returns false for a client that must use TLS and does not, or cannot. */
async function startSafely(client: ClientStream): Promise<boolean> {
  client.setDeadline(LOGIN_MS);
  if ((await client.peekByte()) === TLS_HANDSHAKE) {
    if (!client.canStartTls) return false;
    await client.startTls();
    return true;
  }
  if (!client.mustStartTls) return true;
  client.write(Buffer.from(errorReply("ERR This cache takes connections with TLS only.")));
  return false;
}

/** Alternates between the gateway's own answers and a splice with the engine. */
async function serve<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
): Promise<void> {
  let session: Session | null = newSession();
  while (session !== null) {
    const attached = await new OfflineResponder(client, backend, session).run();
    if (attached === null) return;
    const { engine, framer } = attached;
    backend.loggedIn(client);
    if ((await backend.splice(client, engine, framer)) === "closed") return;
    session = await captureSession(attached, backend);
  }
}

/**
 * The last answer to a client. An unavailable engine is reported like an engine that loads its data: go-redis, redis-py
 * and Lettuce retry after that error, and clients that retry send the rest of a pipeline again.
 * @throws every error that neither the client nor the engine caused.
 */
function farewellOf(error: unknown): string {
  if (error instanceof StreamEnded) return "";
  if (error instanceof TooManyClients) return TOO_MANY_CLIENTS;
  if (error instanceof EngineUnavailable) return errorReply(`LOADING ${error.message}`);
  if (error instanceof EngineError) return errorReply(error.message);
  throw error;
}
