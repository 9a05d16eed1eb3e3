// Logs into a cache as its customer does; only a working login makes the cache available.
import { PublicError } from "../../lib/errors.ts";

/** A connection on the same machine takes milliseconds; a login that takes longer is tried again. */
const LOGIN_TIMEOUT_MS = 3_000;

/** The address and the credentials of a cache. */
export interface CacheLogin {
  hostname: string;
  port: number;
  username: string;
  password: string;
  isTls: boolean;
}

/** @throws PublicError when the cache is unreachable at its address or refuses the credentials. */
export async function ensureLogin({ hostname, port, username, password, isTls }: CacheLogin): Promise<void> {
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  const client = new Bun.RedisClient(
    `${isTls ? "rediss" : "redis"}://${username}:${password}@${host}:${port}`,
    {
      autoReconnect: false,
      connectionTimeout: LOGIN_TIMEOUT_MS,
      // The login tests that the cache answers. It does not test the certificate's name, which is the operator's
      // choice.
      ...(isTls ? { tls: { rejectUnauthorized: false } } : {}),
    },
  );
  try {
    await client.connect();
    const answer = await client.ping();
    if (answer !== "PONG") throw new Error(`the answer to PING was ${answer}`);
  } catch (error) {
    throw new PublicError(`A login at ${host}:${port} did not work.`, error);
  } finally {
    client.close();
  }
}
