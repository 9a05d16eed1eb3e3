// The protocol handler of Postgres: encryption, proof of the password, login at the engine, then a splice.
import { EngineUnavailable, TooManyClients, type Backend, type ProtocolHandler } from "../backend.ts";
import { StreamEnded, type ClientStream, type Stream } from "../stream.ts";
import { authenticate, AUTHENTICATION_MS } from "./authenticate.ts";
import { CancelKeys, type ClientKey } from "./cancel-keys.ts";
import { EngineError, ProtocolError, SQLSTATE, tooManyClients } from "./errors.ts";
import { cancelRequest } from "./messages.ts";
import { Session } from "./session.ts";
import { newestVersionOf } from "./startup-packet.ts";
import { readPurpose } from "./startup.ts";

const TLS_ONLY = "this server accepts encrypted connections only: connect with sslmode=require or stricter";

const cancelKeys = new CancelKeys();

export const postgresHandler: ProtocolHandler = async (client, backend) => {
  try {
    await serve(client, backend);
  } catch (error) {
    if (error instanceof StreamEnded) return;
    const last = lastWords(error);
    client.write((last ?? new ProtocolError(SQLSTATE.internalError, "internal error")).toBytes());
    if (last === null) throw error;
  } finally {
    client.end();
  }
};

/** The error message for a client whose session ends; null for a fault of the gateway. */
function lastWords(error: unknown): ProtocolError | EngineError | null {
  if (error instanceof ProtocolError || error instanceof EngineError) return error;
  if (error instanceof TooManyClients) return tooManyClients();
  if (!(error instanceof EngineUnavailable)) return null;
  // Frameworks recognize this text and try again.
  return new ProtocolError(SQLSTATE.cannotConnectNow, `failed to connect to upstream: ${error.message}`);
}

async function serve<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
): Promise<void> {
  const session = await open(client, backend);
  await session?.run();
}

/** Everything up to the client's first query; null when the client asks for no session. */
async function open<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
): Promise<Session<C, E> | null> {
  client.setDeadline(AUTHENTICATION_MS);
  const purpose = await readPurpose(client, newestVersionOf(backend.entry.engine));
  if (purpose === null) return null;
  if (purpose.kind === "cancel") {
    await cancel(backend, purpose);
    return null;
  }
  const { startup } = purpose;
  if (client.mustStartTls && client.tls === null)
    throw new ProtocolError(SQLSTATE.invalidAuthorization, TLS_ONLY);
  const authenticated = await authenticate(client, backend, startup);
  client.setDeadline(null);
  return await Session.begin(client, backend, cancelKeys, startup, authenticated);
}

/** Has the engine cancel the query of the key's session. The client does not learn whether there is such a session. */
async function cancel<C extends ClientStream, E extends Stream>(
  backend: Backend<C, E>,
  shown: ClientKey,
): Promise<void> {
  const engineKey = cancelKeys.find(backend.entry.id, shown);
  if (engineKey === null) return;
  // The client asks only once, and a drain may wait for this very query.
  const engine = await backend.connectIfRunning({ evenDraining: true });
  if (engine === null) return;
  try {
    engine.write(cancelRequest(engineKey.pid, engineKey.key));
    // The engine closes the connection after the cancel, and clients wait for the close of their own connection.
    await engine.readSome();
  } finally {
    engine.end();
  }
}
