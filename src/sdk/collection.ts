// The operations that every kind of resource has.
import type { Connection } from "./connection.ts";
import { newIdempotencyKey } from "./idempotency-key.ts";
import type { Identifier, PageDocument, SingleDocument } from "./documents.ts";
import { PilviError } from "./errors.ts";

/** Pilvi holds an answer for 60 seconds at most; the rest is for the network. */
const HELD_TIMEOUT_MS = 75_000;

/** The types of a kind. */
export interface Kind {
  /** The description of a new resource. */
  body: unknown;
  resource: Identifier;
  /** The type of related resources that an answer may include. */
  included: Identifier;
  status: string;
  /** Attributes that a list can be filtered by. */
  filter: string;
}

/** How a password is rotated. */
export interface RotationOptions {
  /** Makes repetitions over several processes safe; by default each call has its own. */
  idempotencyKey?: string;
  /** How long the former password stays valid beside the new password, in seconds; by default not at all. */
  graceSeconds?: number;
}

type Single<K extends Kind> = SingleDocument<K["resource"], K["included"]>;
type Page<K extends Kind> = PageDocument<K["resource"], K["included"]>;
type Filter<K extends Kind> = Partial<Record<K["filter"], string>>;

/** Resources of one kind that belong to the token's organization. */
export class Collection<K extends Kind> {
  protected readonly connection: Connection;
  readonly #path: string;

  /** @param path below the API root, such as `/caches`. */
  constructor(connection: Connection, path: string) {
    this.connection = connection;
    this.#path = path;
  }

  /**
   * Creates a resource; it is not `available` at once.
   * @param options.idempotencyKey makes repetitions over several processes safe; by default each call has its own.
   */
  async create(body: K["body"], options: { idempotencyKey?: string } = {}): Promise<Single<K>> {
    const { idempotencyKey = newIdempotencyKey() } = options;
    return await this.connection.send<Single<K>>({
      method: "POST",
      path: this.#path,
      body,
      headers: { "Idempotency-Key": idempotencyKey },
    });
  }

  /**
   * Reads one page of the list, the first one by default.
   * @param options.include related resources to read along, by the names that the API documents.
   */
  async list(
    options: { filter?: Filter<K>; page?: number; include?: readonly string[] } = {},
  ): Promise<Page<K>> {
    const { filter = {}, page, include = [] } = options;
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries<string>(filter)) query.set(`filter[${name}]`, value);
    if (page !== undefined) query.set("page", String(page));
    if (include.length > 0) query.set("include", include.join(","));
    return await this.#page(query);
  }

  /** Reads page after page of the list. */
  async *pages(options: { filter?: Filter<K>; include?: readonly string[] } = {}): AsyncGenerator<Page<K>> {
    let page = await this.list(options);
    yield page;
    while (page.links.next !== undefined) {
      // Only the query is taken, so that the token never goes to another server than its own.
      page = await this.#page(new URL(page.links.next).searchParams);
      yield page;
    }
  }

  /** Reads all resources, over all pages. */
  async *all(options: { filter?: Filter<K> } = {}): AsyncGenerator<K["resource"]> {
    for await (const page of this.pages(options)) yield* page.data;
  }

  /**
   * Reads one resource.
   * @param options.wait lets Pilvi hold the answer until the resource has this status, for 60 seconds at most; then it
   * answers with the resource as it is. `deleted` waits until the resource does not exist.
   * @param options.include related resources to read along, by the names that the API documents.
   */
  async get(
    id: string,
    options: { wait?: K["status"]; include?: string[]; signal?: AbortSignal } = {},
  ): Promise<Single<K>> {
    const { wait, include = [], signal } = options;
    const query = new URLSearchParams();
    if (wait !== undefined) query.set("wait", wait);
    if (include.length > 0) query.set("include", include.join(","));
    return await this.connection.send<Single<K>>({
      method: "GET",
      path: this.pathOf(id),
      query,
      signal,
      ...(wait !== undefined && { timeoutMs: HELD_TIMEOUT_MS }),
    });
  }

  /** Deletes a resource with everything in it. It is gone a moment later. */
  async delete(id: string): Promise<void> {
    await this.connection.send({ method: "DELETE", path: this.pathOf(id) });
  }

  /**
   * Waits until a deletion has ended, for 60 seconds at most.
   * @throws PilviError (409) when the resource still exists then.
   */
  async untilDeleted(id: string): Promise<void> {
    try {
      await this.get(id, { wait: "deleted" });
    } catch (error) {
      if (error instanceof PilviError && error.status === 404) return;
      throw error;
    }
    throw new PilviError("It is still being deleted. Try again in a minute.", 409);
  }

  /** Changes the members that the body names; the rest stays as it is. */
  protected async change<Document>(id: string, body: unknown): Promise<Document> {
    return await this.connection.send<Document>({ method: "PATCH", path: this.pathOf(id), body });
  }

  /** Suspends a resource; takes as long as the operations under way there. */
  protected async putToSleep<Document>(id: string): Promise<Document> {
    const path = `${this.pathOf(id)}/suspend`;
    return await this.connection.send<Document>({ method: "POST", path, timeoutMs: HELD_TIMEOUT_MS });
  }

  /** Gives a resource a new password. */
  protected async rotate<Document>(
    id: string,
    { idempotencyKey = newIdempotencyKey(), graceSeconds }: RotationOptions,
  ): Promise<Document> {
    const path = `${this.pathOf(id)}/rotate-credentials`;
    const headers = { "Idempotency-Key": idempotencyKey };
    const body = graceSeconds === undefined ? undefined : { grace_seconds: graceSeconds };
    return await this.connection.send<Document>({ method: "POST", path, headers, body });
  }

  /** Ends the grace period of the latest rotation. */
  protected async refuseFormerPassword<Document>(id: string): Promise<Document> {
    return await this.connection.send<Document>({ method: "POST", path: `${this.pathOf(id)}/end-grace` });
  }

  protected pathOf(id: string): string {
    return `${this.#path}/${encodeURIComponent(id)}`;
  }

  async #page(query: URLSearchParams): Promise<Page<K>> {
    return await this.connection.send<Page<K>>({ method: "GET", path: this.#path, query });
  }
}
