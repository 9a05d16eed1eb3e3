// The operations on the user that is signed in.
import type { UserResource } from "../resources/accounts/schema.ts";
import type { Connection } from "./connection.ts";
import type { SingleDocument } from "./documents.ts";

export type UserDocument = SingleDocument<UserResource>;

export class Users {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads the user of the session, the user's organizations, and what the session may do. */
  async me(): Promise<UserDocument> {
    return await this.#connection.send({ method: "GET", path: "/users/me" });
  }

  /** Changes the name or the e-mail address; what is left out stays. */
  async update(body: { name?: string; email?: string }): Promise<UserDocument> {
    return await this.#connection.send({ method: "PATCH", path: "/users/me", body });
  }

  /** Sets a new password, and ends all other sessions of the user. */
  async updatePassword(body: { current_password: string; password: string }): Promise<void> {
    await this.#connection.send({ method: "PUT", path: "/users/me/password", body, isLimitFinal: true });
  }
}
