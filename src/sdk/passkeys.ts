// The operations on passkeys; the browser's WebAuthn takes the options and gives the credentials.
import type { PasskeyResource } from "../resources/accounts/schema.ts";
import type { Connection } from "./connection.ts";
import type { SingleDocument } from "./documents.ts";
import { everyPage } from "./every-page.ts";

/** Options as JSON, for the browser. */
export interface PasskeyOptions {
  data: Record<string, unknown>;
}

/** The passkeys of the signed-in user, and the sign-in with one. */
export class Passkeys {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads the passkeys of the user, the oldest first. */
  all(): AsyncGenerator<PasskeyResource> {
    return everyPage<PasskeyResource>(this.#connection, "/passkeys");
  }

  /** Asks for the options for a new passkey. */
  async options(): Promise<PasskeyOptions> {
    return await this.#connection.send({ method: "POST", path: "/passkeys/options" });
  }

  /** Keeps a passkey that the browser made for the options. */
  async create(body: { name?: string; credential: unknown }): Promise<SingleDocument<PasskeyResource>> {
    return await this.#connection.send({ method: "POST", path: "/passkeys", body, isOnce: true });
  }

  /** Removes a passkey. */
  async delete(id: string): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: `/passkeys/${encodeURIComponent(id)}` });
  }

  /** Asks for the options for a sign-in. */
  async signInOptions(): Promise<PasskeyOptions> {
    return await this.#connection.send({ method: "POST", path: "/sessions/passkey-options" });
  }

  /** Signs in with what the browser made for the options; it keeps the cookie of the answer. */
  async signIn(body: { credential: unknown }): Promise<void> {
    await this.#connection.send({ method: "POST", path: "/sessions/passkey", body, isOnce: true });
  }
}
