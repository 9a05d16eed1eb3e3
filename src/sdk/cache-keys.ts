// The operations on the keys of a cache. Pilvi logs in as the cache's own user, which wakes a cache that sleeps.
import type { KeyDocument, KeysDocument, KeysQuery } from "../resources/caches/schema.ts";
import type { Connection } from "./connection.ts";

/** Selects keys. */
export interface CacheKeyFilter {
  /** A pattern for names: `*` is any text, `?` any character, `[ab]` one of these. */
  match?: string;
  type?: NonNullable<KeysQuery["type"]>;
}

/** What each request may say. */
export interface CacheKeyOptions {
  /** Wakes a cache that sleeps; without it the request is refused with 409. */
  wake?: boolean;
  signal?: AbortSignal;
}

/** The name of a key, as answers have it; a string is a name in UTF-8. */
export type CacheKeyName = string | Pick<KeyDocument["data"]["key"], "text" | "encoding">;

/** A cache that is woken may take longer than an answer usually does. */
const TIMEOUT_MS = 40_000;

/** The keys of one cache. */
export class CacheKeys {
  readonly #connection: Connection;
  readonly #path: string;

  /** @param path of the cache. */
  constructor(connection: Connection, path: string) {
    this.#connection = connection;
    this.#path = `${path}/keys`;
  }

  /** Reads a page of keys. An empty page whose `meta.cursor` is not null is not the end. */
  async list(
    options: CacheKeyFilter & CacheKeyOptions & { cursor?: string; count?: number } = {},
  ): Promise<KeysDocument> {
    const { signal, ...members } = options;
    return await this.#connection.send<KeysDocument>({
      method: "GET",
      path: this.#path,
      query: queryOf(members),
      timeoutMs: TIMEOUT_MS,
      signal,
    });
  }

  /** Reads a part of a key's value. @param options.cursor `meta.cursor` of the part before. */
  async get(
    key: CacheKeyName,
    options: CacheKeyOptions & { cursor?: string; count?: number } = {},
  ): Promise<KeyDocument> {
    const { signal, ...members } = options;
    const { path, encoding } = this.#addressOf(key);
    const query = queryOf({ ...members, encoding });
    return await this.#connection.send<KeyDocument>({
      method: "GET",
      path,
      query,
      timeoutMs: TIMEOUT_MS,
      signal,
    });
  }

  /** Deletes a key. */
  async delete(key: CacheKeyName, { signal, ...members }: CacheKeyOptions = {}): Promise<void> {
    const { path, encoding } = this.#addressOf(key);
    const query = queryOf({ ...members, encoding });
    await this.#connection.send({ method: "DELETE", path, query, timeoutMs: TIMEOUT_MS, signal });
  }

  #addressOf(key: CacheKeyName): { path: string; encoding: string | undefined } {
    const { text, encoding } = typeof key === "string" ? { text: key, encoding: "utf8" } : key;
    const path = `${this.#path}/${encodeURIComponent(text)}`;
    return { path, encoding: encoding === "utf8" ? undefined : encoding };
  }
}

function queryOf(members: Record<string, string | number | boolean | undefined>): URLSearchParams {
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== false);
  return new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
}
