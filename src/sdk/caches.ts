// The operations on caches.
import type { z } from "zod";
import type { CacheResource, CacheStatus, cacheTypeList, newCache } from "../resources/caches/schema.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";

/** What a new cache is described by; everything but type, name, region and size may be left out. */
export type NewCache = z.input<typeof newCache>;
export type CacheDocument = SingleDocument<CacheResource>;
export type CachePage = PageDocument<CacheResource>;
/** What can be ordered. */
export type CacheTypeList = z.output<typeof cacheTypeList>;

/** Shows only caches whose attributes have these values. */
export type CacheFilter = Partial<Record<"type" | "status" | "region", string>>;

/** Pilvi holds an answer for 60 seconds at most; the rest is for the way. */
const HELD_TIMEOUT_MS = 75_000;

/** The caches of the token's organization. */
export class Caches {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Creates a cache; it is not `available` at once.
   * @param options.idempotencyKey makes repetitions over several processes safe; by default each call has its own.
   */
  async create(body: NewCache, options: { idempotencyKey?: string } = {}): Promise<CacheDocument> {
    const { idempotencyKey = crypto.randomUUID() } = options;
    return await this.#connection.send<CacheDocument>({
      method: "POST",
      path: "/caches",
      body,
      headers: { "Idempotency-Key": idempotencyKey },
    });
  }

  /** Reads one page of the list, the first one by default. */
  async list(options: { filter?: CacheFilter; page?: number } = {}): Promise<CachePage> {
    const { filter = {}, page } = options;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(filter)) query.set(`filter[${name}]`, value);
    if (page !== undefined) query.set("page", String(page));
    return await this.#page(query);
  }

  /** Reads page after page of the list. */
  async *pages(options: { filter?: CacheFilter } = {}): AsyncGenerator<CachePage> {
    let page = await this.list(options);
    yield page;
    while (page.links.next !== undefined) {
      // Only the query is taken, so that the token never goes to another server than the one it was given for.
      page = await this.#page(new URL(page.links.next).searchParams);
      yield page;
    }
  }

  /** Reads all caches, over all pages. */
  async *all(options: { filter?: CacheFilter } = {}): AsyncGenerator<CacheResource> {
    for await (const page of this.pages(options)) yield* page.data;
  }

  /**
   * Reads one cache.
   * @param options.wait lets Pilvi hold the answer until the cache has this status, for 60 seconds at most; then it
   *   answers as the cache is. `deleted` waits until there is no such cache.
   */
  async get(id: string, options: { wait?: CacheStatus; signal?: AbortSignal } = {}): Promise<CacheDocument> {
    const { wait, signal } = options;
    return await this.#connection.send<CacheDocument>({
      method: "GET",
      path: pathOf(id),
      signal,
      ...(wait !== undefined && { query: new URLSearchParams({ wait }), timeoutMs: HELD_TIMEOUT_MS }),
    });
  }

  /** Deletes a cache with everything in it. It is gone a moment later. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: pathOf(id) });
  }

  /** Reads which types there are, with their sizes and regions. */
  async types(): Promise<CacheTypeList> {
    return await this.#connection.send<CacheTypeList>({ method: "GET", path: "/caches/types" });
  }

  async #page(query: URLSearchParams): Promise<CachePage> {
    return await this.#connection.send<CachePage>({ method: "GET", path: "/caches", query });
  }
}

function pathOf(id: string): string {
  return `/caches/${encodeURIComponent(id)}`;
}
