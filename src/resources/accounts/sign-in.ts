// Signing in: checks a password, begins a session, and answers with it and its cookie.
import { Attempts } from "../../api/auth/attempts.ts";
import type { Client } from "../../api/auth/client.ts";
import { sessionCookie } from "../../api/auth/cookies.ts";
import { Passwords } from "../../api/auth/passwords.ts";
import { beginSession } from "../../api/auth/sessions.ts";
import { ApiError } from "../../api/jsonapi/errors.ts";
import { JSON_API } from "../../api/jsonapi/jsonapi.ts";
import type { Reply, Success } from "../../api/operation/operation.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { z } from "zod";
import { renderSession, sessionsOf } from "./render.ts";
import { sessionResource } from "./schema.ts";
import { findLogin } from "./store.ts";

/** An e-mail address with a password. */
export interface GivenLogin {
  email: string;
  password: string;
}

/** The password checks of one process, with their bounds. */
export class SignIn {
  readonly #db: Database;
  readonly #attempts = new Attempts();
  readonly passwords = new Passwords();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Checks a login. An unknown address takes as long and is answered as a wrong password.
   * @returns the id of the user, and the hash that the password fits.
   * @throws ApiError 401, or 429 after too many failures.
   */
  async check(
    { email, password }: GivenLogin,
    client: Client,
  ): Promise<{ userId: string; passwordHash: string }> {
    const succeed = this.#attempts.begin(email, client.address);
    const login = await findLogin(this.#db, email);
    const isRight = await this.passwords.check(password, login?.passwordHash);
    if (login === undefined || !isRight) throw wrongLogin();
    succeed();
    return { userId: login.id, passwordHash: login.passwordHash };
  }
}

/**
 * Holds the password of a user until the transaction ends.
 * @throws ApiError 401 when it was changed since it was checked.
 */
export async function holdPassword(
  tx: Transaction,
  { userId, passwordHash }: { userId: string; passwordHash: string },
): Promise<void> {
  const rows = await tx`
    select from users where id = ${userId} and password_hash = ${passwordHash} for update`;
  if (rows.length === 0) throw wrongLogin();
}

function wrongLogin(): ApiError {
  return new ApiError(401, "The e-mail address or the password is wrong.", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

/** Begins a session in the transaction, and answers with it. */
export async function answerSignedIn(
  tx: Transaction,
  asked: { userId: string; client: Client; organizationId?: string },
): Promise<Reply> {
  const { id, secret } = await beginSession(tx, asked);
  const [row] = await sessionsOf(tx, asked.userId, id);
  if (row === undefined) throw new Error("a new session is not there");
  return {
    document: { data: renderSession(row, id) },
    headers: sessionCookie(secret, asked.client.origin),
  };
}

/** The success of operations that sign in. */
export const SIGNED_IN: Success = {
  status: 201,
  description: "The session, whose secret is in the cookie.",
  schema: z.object({ data: sessionResource }),
  contentType: JSON_API,
  headers: { "Set-Cookie": "The cookie of the session, which scripts cannot read." },
};
