// Opens a cache for the key browser: asks before a wake, and bounds time and the number of connections.
import type { Principal } from "../../../api/auth/auth.ts";
import { ApiError, notFound } from "../../../api/jsonapi/errors.ts";
import { presentable } from "../../../lib/presentable.ts";
import type { KindContext } from "../../kind.ts";
import { loginOf } from "../login.ts";
import { findCache, type CacheRow } from "../store.ts";
import { withCache, type CacheConnection } from "./connection.ts";
import { ReplyError, TooLarge } from "./resp.ts";

/** How long a cache may take for all that a request asks of it. */
const TIMEOUT_MS = 8_000;
/** The same for a cache that sleeps, which may first load much from the disk. */
const WAKE_TIMEOUT_MS = 25_000;

/** The most connections of the key browser to one cache, so that a slow cache does not hold many requests. */
const MAX_CONNECTIONS = 4;

const MAX_REASON_CHARACTERS = 200;

/** Runs work on caches of an organization. */
export class KeyBrowser {
  readonly #context: KindContext;
  readonly #connections = new Map<string, number>();

  constructor(context: KindContext) {
    this.#context = context;
  }

  /**
   * @param isWaking whether a sleeping cache may be woken.
   * @throws ApiError 404, 409 when it sleeps or refuses, 429, 503 when it does not answer in time.
   */
  async open<T>(
    { organizationId }: Principal,
    { id, isWaking, signal }: { id: string; isWaking: boolean; signal: AbortSignal },
    work: (cache: CacheConnection) => Promise<T>,
  ): Promise<T> {
    const cache = await findCache(this.#context.db, organizationId, id);
    if (cache === undefined) throw notFound("cache");
    const isAsleep = this.#isAsleep(cache);
    if (isAsleep && !isWaking) throw new ApiError(409, "The cache sleeps. Ask with `wake=true` to wake it.");
    const open = this.#connections.get(id) ?? 0;
    if (open >= MAX_CONNECTIONS) throw busy();
    this.#connections.set(id, open + 1);
    try {
      const timeout = AbortSignal.timeout(isAsleep ? WAKE_TIMEOUT_MS : TIMEOUT_MS);
      return await withCache(loginOf(cache, this.#context), AbortSignal.any([signal, timeout]), work);
    } catch (error) {
      throw apiErrorFor(error);
    } finally {
      this.#release(id);
    }
  }

  #isAsleep({ id, hostId }: CacheRow): boolean {
    return this.#context.hosts.of(hostId).observedStates.of(id)?.state === "asleep";
  }

  #release(id: string): void {
    const left = (this.#connections.get(id) ?? 1) - 1;
    if (left === 0) this.#connections.delete(id);
    else this.#connections.set(id, left);
  }
}

function busy(): ApiError {
  const message = `The keys of the cache are read by ${MAX_CONNECTIONS} requests already.`;
  return new ApiError(429, message, { headers: { "Retry-After": "2" } });
}

function apiErrorFor(cause: unknown): unknown {
  if (cause instanceof ApiError) return cause;
  if (cause instanceof TooLarge) {
    return new ApiError(409, "The names of these keys are too long to be listed. Ask with a smaller count.", {
      cause,
    });
  }
  if (cause instanceof ReplyError) {
    const reason = presentable(cause.message, MAX_REASON_CHARACTERS);
    return new ApiError(409, `The cache refused: ${reason}`, { cause });
  }
  return new ApiError(503, "The cache did not answer in time.", { headers: { "Retry-After": "2" }, cause });
}
