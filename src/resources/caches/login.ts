// Logs into a cache as its customer does; only a working login makes the cache available.
import { isOfServingCache } from "../../lib/cache-answers.ts";
import { PublicError } from "../../lib/errors.ts";
import type { KindContext } from "../kind.ts";
import { exposureOf } from "./exposure.ts";
import type { CacheRow } from "./store.ts";

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

/** The address of a cache and the credentials of its customer. */
export function loginOf(cache: CacheRow, context: KindContext): CacheLogin {
  const host = context.hosts.of(cache.hostId);
  return {
    hostname: host.hostnames[exposureOf(cache).scope],
    port: cache.port,
    username: cache.username,
    password: context.vault.open(cache.sealedPassword, cache.id),
    isTls: cache.isPublic && host.isTls,
  };
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
    await ping(client);
  } catch (error) {
    throw new PublicError(`A login at ${host}:${port} did not work.`, error);
  } finally {
    client.close();
  }
}

/** @throws Error for any other answer than those of a cache that serves, of which some cannot save or run a script. */
async function ping(client: Bun.RedisClient): Promise<void> {
  try {
    const answer = await client.ping();
    if (answer !== "PONG") throw new Error(`the answer to PING was ${answer}`);
  } catch (error) {
    if (!isOfServingCache(error)) throw error;
  }
}
