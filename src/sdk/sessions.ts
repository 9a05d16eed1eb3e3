// The operations on the sessions of a user: a session is what a browser has in place of a token.
import type { SessionResource } from "../resources/accounts/schema.ts";
import type { Connection } from "./connection.ts";
import type { PageDocument, SingleDocument } from "./documents.ts";

export type SessionDocument = SingleDocument<SessionResource>;

/** What a one-time link is redeemed with; the link of a first account needs `email` and `name`. */
export interface Redemption {
  secret: string;
  email?: string;
  name?: string;
  password: string;
}

export class Sessions {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Signs in with an e-mail address and a password; the browser keeps the cookie of the answer. Not repeated after a
   * lost connection, since the first attempt may have made a session that would stay.
   */
  async create(body: { email: string; password: string }): Promise<SessionDocument> {
    return await this.#connection.send({
      method: "POST",
      path: "/sessions",
      body,
      isOnce: true,
      isLimitFinal: true,
    });
  }

  /**
   * Signs in with a one-time link, which makes the first account or sets a new password. Not repeated after a lost
   * connection, since the link would not work again.
   */
  async redeem(body: Redemption): Promise<SessionDocument> {
    return await this.#connection.send({ method: "POST", path: "/sign-in-links/redeem", body, isOnce: true });
  }

  /** Reads the sessions of the user, the last used first. */
  async list(): Promise<PageDocument<SessionResource>> {
    return await this.#connection.send({ method: "GET", path: "/sessions" });
  }

  /** Makes the present session work on another organization of its user. */
  async switchOrganization(organizationId: string): Promise<SessionDocument> {
    const body = { organization_id: organizationId };
    return await this.#connection.send({ method: "PATCH", path: "/sessions/current", body });
  }

  /** Ends a session. @param id `current` for the session of this browser. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: `/sessions/${encodeURIComponent(id)}` });
  }
}
