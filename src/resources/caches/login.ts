// Logs into a cache as its customer does, which alone makes it available.
import { PublicError } from "../../lib/errors.ts";

/** A connection on the machine itself takes milliseconds; a login that takes longer is tried again. */
const LOGIN_TIMEOUT_MS = 3_000;

/** How a customer reaches a cache. */
export interface CacheLogin {
  hostname: string;
  port: number;
  username: string;
  password: string;
  isTls: boolean;
}

/** @throws PublicError when the cache cannot be reached at its address or does not take the credentials. */
export async function ensureLogin({ hostname, port, username, password, isTls }: CacheLogin): Promise<void> {
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  const client = new Bun.RedisClient(
    `${isTls ? "rediss" : "redis"}://${username}:${password}@${host}:${port}`,
    {
      autoReconnect: false,
      connectionTimeout: LOGIN_TIMEOUT_MS,
      // This asks whether the cache answers; whether the name fits the certificate is the operator's choice of name.
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
