// The operations on tokens of the organization.
import type { AbilityResource, NewTokenBody, TokenResource } from "../resources/tokens/schema.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";
import { everyPage } from "./every-page.ts";

export type NewToken = NewTokenBody;
export type TokenDocument = SingleDocument<TokenResource>;
export type TokenPage = PageDocument<TokenResource>;

const PATH = "/tokens";

/** The tokens that are not revoked; a developer sees those of their own. */
export class Tokens {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Makes a token; the answer alone has its text. Not repeated after a lost connection. */
  async create(body: NewToken): Promise<TokenDocument> {
    return await this.#connection.send({ method: "POST", path: PATH, body, isOnce: true });
  }

  /** Reads all tokens, the newest first. */
  all(): AsyncGenerator<TokenResource> {
    return everyPage<TokenResource>(this.#connection, PATH);
  }

  /** Reads all abilities, and whether a token of the caller's own may have each. */
  async abilities(): Promise<{ data: AbilityResource[] }> {
    return await this.#connection.send({ method: "GET", path: `${PATH}/abilities` });
  }

  /** Revokes a token at once. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: `${PATH}/${encodeURIComponent(id)}` });
  }
}
