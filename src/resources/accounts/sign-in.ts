// Signing in: checks a password, begins a session, and answers with it and its cookie.
import { recordAccountAudit } from "../../api/auth/account-audit.ts";
import { Attempts } from "../../api/auth/attempts.ts";
import type { Client } from "../../api/auth/client.ts";
import { sessionCookie } from "../../api/auth/cookies.ts";
import { Passwords } from "../../api/auth/passwords.ts";
import { beginSession } from "../../api/auth/sessions.ts";
import { ApiError } from "../../api/jsonapi/errors.ts";
import { JSON_API } from "../../api/jsonapi/jsonapi.ts";
import type { Reply, Success } from "../../api/operation/operation.ts";
import type { Transaction } from "../../store/database.ts";
import { z } from "zod";
import type { KindContext } from "../kind.ts";
import { recordFailedSignIn } from "./failed-sign-ins.ts";
import { renderSession, sessionsOf } from "./render.ts";
import { sessionResource } from "./schema.ts";
import { findLogin } from "./store.ts";

/** An e-mail address with a password. */
interface GivenLogin {
  email: string;
  password: string;
}

/** What was given to sign in with; `current-password` is given for a new password. */
export type SignInMethod = "password" | "current-password" | "passkey" | "link" | "invitation";

/** The request of a check. */
interface CheckedRequest {
  client: Client;
  requestId: string;
  method: SignInMethod;
}

/** The password checks of one process, with their bounds. */
export class SignIn {
  readonly #context: Pick<KindContext, "db" | "log">;
  readonly #attempts = new Attempts();
  readonly passwords = new Passwords();

  constructor(context: Pick<KindContext, "db" | "log">) {
    this.#context = context;
  }

  /**
   * Checks a login. An unknown address takes as long and is answered as a wrong password.
   * @returns the id of the user, and the hash that the password fits.
   * @throws ApiError 401, or 429 after too many failures.
   */
  async check(
    { email, password }: GivenLogin,
    request: CheckedRequest,
  ): Promise<{ userId: string; passwordHash: string }> {
    const succeed = this.#attempts.begin(email, request.client.address);
    const login = await findLogin(this.#context.db, email);
    const isRight = await this.passwords.check(password, login?.passwordHash);
    if (login !== undefined && !isRight) this.#noteFailure(login.id, request);
    if (login === undefined || !isRight) throw wrongLogin();
    succeed();
    return { userId: login.id, passwordHash: login.passwordHash };
  }

  /** Not awaited, since the time until the answer would say that the account exists. */
  #noteFailure(userId: string, request: CheckedRequest): void {
    const { db, log } = this.#context;
    recordFailedSignIn(db, { userId, ...request }).catch((error: unknown) =>
      log.warn({ error, userId }, "could not record a failed sign-in"),
    );
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
    select from users where id = ${userId} and password_hash = ${passwordHash} for no key update`;
  if (rows.length === 0) throw wrongLogin();
}

function wrongLogin(): ApiError {
  return new ApiError(401, "The e-mail address or the password is wrong.", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

/** Begins a session in the transaction, records it in the activity, and answers with it. */
export async function answerSignedIn(
  tx: Transaction,
  asked: CheckedRequest & { userId: string; organizationId?: string },
): Promise<Reply> {
  const { id, secret } = await beginSession(tx, asked);
  const details = { method: asked.method };
  await recordAccountAudit(tx, { ...asked, action: "sign-in", kind: "sessions", id, details });
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
