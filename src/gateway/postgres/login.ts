// Logs an authenticated client in at the engine, with retries.
import type { Backend } from "../backend.ts";
import type { WakeReason } from "../../contracts/sleep.ts";
import type { ClientStream, Stream } from "../stream.ts";
import type { Authenticated } from "./authenticate.ts";
import { EngineLogin, NotByPassword, type LoggedIn } from "./engine-login.ts";
import { EngineError, ProtocolError, wrongPassword } from "./errors.ts";
import { RetryPolicy } from "./retry-policy.ts";
import { isSameHashing } from "../../lib/scram.ts";
import type { Startup } from "./startup-packet.ts";

/**
 * Sends nothing to the client yet.
 * @throws EngineError with the messages for the client; ProtocolError, EngineUnavailable, StreamEnded.
 */
export async function logIn<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
  startup: Startup,
  { proof, login: begun }: Authenticated<E>,
): Promise<LoggedIn<E>> {
  const retryPolicy = new RetryPolicy(client, backend);
  let login = begun;
  let hasAsked = false;
  for (;;) {
    const engine = await connect(client, backend, startup, login);
    try {
      if (engine !== login?.engine) login = await EngineLogin.begin(engine, startup);
      // The password may have been changed, or the user dropped, since the client's proof.
      if (!isSameHashing(login.hashing, proof.verifier)) throw wrongPassword(startup.user);
      return await login.finish(proof);
    } catch (error) {
      engine.end();
      login = null;
      if (!hasAsked && isAboutUser(error)) {
        // The refresh has the host restore a published user that a customer has changed: the login may work now.
        hasAsked = true;
        await backend.refreshUsers();
        continue;
      }
      await retryPolicy.waitAfter(error instanceof NotByPassword ? wrongPassword(startup.user) : error);
    }
  }
}

/** Whether the engine refuses a user whose password the client has proved to the gateway. */
function isAboutUser(error: unknown): boolean {
  if (error instanceof EngineError) return error.isAboutUser;
  return error instanceof ProtocolError || error instanceof NotByPassword;
}

/** The connection of a login that has begun, or a new connection. */
async function connect<C extends ClientStream, E extends Stream>(
  client: C,
  backend: Backend<C, E>,
  startup: Startup,
  login: EngineLogin<E> | null,
): Promise<E> {
  const reason = reasonOf(client, startup);
  if (login === null) return await backend.connect(client, reason);
  let engine: E | null = null;
  try {
    engine = await backend.connect(client, reason, login.engine);
    return engine;
  } finally {
    if (engine !== login.engine) login.engine.end();
  }
}

function reasonOf(client: ClientStream, { user, database, application }: Startup): WakeReason {
  return {
    user,
    // Without a database's name Postgres takes the user's.
    database: database ?? user,
    ...(application === undefined ? {} : { application }),
    address: client.address,
  };
}
