// The operations on the sessions of a user: a session is what a browser has in place of a token.
import type { Connection } from "./connection.ts";
import type { Identifier, SingleDocument } from "./documents.ts";

export class Sessions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Signs in with an e-mail address and a password; the browser keeps the cookie of the answer. */
  async create(body: { email: string; password: string }): Promise<SingleDocument<Identifier>> {
    return await this.#connection.send({ method: "POST", path: "/sessions", body });
  }

  /** Ends a session. @param id `current` for the session of this browser. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: `/sessions/${encodeURIComponent(id)}` });
  }
}
