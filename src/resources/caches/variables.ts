// The variables by which an application finds a cache.
import type { KindContext } from "../kind.ts";
import { loginOf } from "./login.ts";
import { loadCache } from "./store.ts";

/** The address and the credentials, by the names that frameworks read; none for a cache that is gone. */
export async function cacheVariables(context: KindContext, id: string): Promise<Record<string, string>> {
  const cache = await loadCache(context.db, id);
  if (cache === null) return {};
  const { hostname, port, username, password, isTls } = loginOf(cache, context);
  const scheme = isTls ? "rediss" : "redis";
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    REDIS_URL: `${scheme}://${username}:${encodeURIComponent(password)}@${host}:${port}`,
    REDIS_HOST: isTls ? `tls://${hostname}` : hostname,
    REDIS_PORT: String(port),
    REDIS_USERNAME: username,
    REDIS_PASSWORD: password,
    CACHE_STORE: "redis",
  };
}
