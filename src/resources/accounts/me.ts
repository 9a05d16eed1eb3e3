// `/users/me`: the signed-in user, with the organizations and what the session may do.
import { z } from "zod";
import { recordAccountAudit, type AccountEntry } from "../../api/auth/account-audit.ts";
import { holdSession, type SessionPrincipal } from "../../api/auth/auth.ts";
import { endSessions } from "../../api/auth/sessions.ts";
import { invalid } from "../../api/jsonapi/errors.ts";
import { operation, type AnyOperation } from "../../api/operation/operation.ts";
import { isUniqueViolation } from "../../store/violations.ts";
import type { Database } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { single } from "../shared/short-lists.ts";
import { sessionUserOf } from "./principal.ts";
import { describeUser } from "./render.ts";
import { emailField, givenPasswordField, passwordField, personField, userResource } from "./schema.ts";
import { holdPassword, type SignIn } from "./sign-in.ts";
import { getUser, takenEmail } from "./store.ts";

const TAG = "Accounts";

const success = single(userResource, "The user.");

/** The operations. */
export function meOperations(context: KindContext, signIn: SignIn): AnyOperation[] {
  return [getOperation(context), updateOperation(context), passwordOperation(context, signIn)];
}

function getOperation({ db }: KindContext): AnyOperation {
  return operation({
    method: "GET",
    path: "/users/me",
    operationId: "getMe",
    tag: TAG,
    summary: "Get the signed-in user",
    description: "The user, the organizations of the user, and what the session may do in its present one.",
    ability: null,
    isForUsers: true,
    success,
    async handle({ principal }) {
      return { document: { data: await describeUser(db, sessionUserOf(principal)) } };
    },
  });
}

function updateOperation({ db }: KindContext): AnyOperation {
  return operation({
    method: "PATCH",
    path: "/users/me",
    operationId: "updateMe",
    tag: TAG,
    summary: "Change the signed-in user",
    description: "Changes the name or the e-mail address; what is left out stays.",
    ability: null,
    isForUsers: true,
    body: z.object({ name: personField.optional(), email: emailField.optional() }),
    success,
    async handle({ principal, body, client, requestId }) {
      const user = sessionUserOf(principal);
      await updateUser(db, user, { client, requestId }, body);
      return { document: { data: await describeUser(db, user) } };
    },
  });
}

async function updateUser(
  db: Database,
  session: SessionPrincipal,
  request: Pick<AccountEntry, "client" | "requestId">,
  { name, email }: { name?: string | undefined; email?: string | undefined },
): Promise<void> {
  const { userId } = session;
  const details = { ...(name !== undefined && { name }), ...(email !== undefined && { email }) };
  try {
    await db.begin(async (tx) => {
      await tx`
        update users set name = coalesce(${name ?? null}::text, name), email = coalesce(${email ?? null}::text, email)
        where id = ${userId}`;
      const entry = { userId, action: "update", kind: "users", id: userId, details } as const;
      await recordAccountAudit(tx, { ...request, ...entry });
      await holdSession(tx, session);
    });
  } catch (error) {
    throw isUniqueViolation(error) ? takenEmail() : error;
  }
}

function passwordOperation({ db }: KindContext, signIn: SignIn): AnyOperation {
  return operation({
    method: "PUT",
    path: "/users/me/password",
    operationId: "updatePassword",
    tag: TAG,
    summary: "Change the password",
    description: "Sets a new password and ends all other sessions of the user.",
    ability: null,
    isForUsers: true,
    body: z.object({ current_password: givenPasswordField, password: passwordField }),
    success: { status: 204, description: "The new password is in force." },
    async handle({ principal, body, client, requestId }) {
      const { userId, sessionId } = sessionUserOf(principal);
      const { email } = await getUser(db, userId);
      const login = await signIn
        .check({ email, password: body.current_password }, { client, requestId, method: "current-password" })
        .catch((error: unknown) => {
          throw isWrong(error) ? wrongPassword() : error;
        });
      const passwordHash = await signIn.passwords.hash(body.password);
      await db.begin(async (tx) => {
        await holdPassword(tx, login);
        await tx`update users set password_hash = ${passwordHash} where id = ${userId}`;
        const endedSessions = await endSessions(tx, userId, { except: sessionId });
        const details = { ended_sessions: endedSessions };
        const entry = { action: "change-password", kind: "users", id: userId, details } as const;
        await recordAccountAudit(tx, { userId, client, requestId, ...entry });
      });
      return {};
    },
  });
}

/** A 401 would mean to the page that its session has ended. */
function isWrong(error: unknown): boolean {
  return error instanceof Error && "status" in error && error.status === 401;
}

function wrongPassword(): Error {
  return invalid({ current_password: ["The field current_password is not the present password."] });
}
