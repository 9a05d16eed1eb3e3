// `/users/me`: the signed-in user, with the organizations and what the session may do.
import { z } from "zod";
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
    async handle({ principal, body }) {
      const user = sessionUserOf(principal);
      await updateUser(db, user.userId, body);
      return { document: { data: await describeUser(db, user) } };
    },
  });
}

async function updateUser(
  db: Database,
  id: string,
  { name, email }: { name?: string | undefined; email?: string | undefined },
): Promise<void> {
  try {
    await db`
      update users set name = coalesce(${name ?? null}::text, name), email = coalesce(${email ?? null}::text, email)
      where id = ${id}`;
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
    async handle({ principal, body, client }) {
      const { userId, sessionId } = sessionUserOf(principal);
      const { email } = await getUser(db, userId);
      const login = await signIn
        .check({ email, password: body.current_password }, client)
        .catch((error: unknown) => {
          throw isWrong(error) ? wrongPassword() : error;
        });
      const passwordHash = await signIn.passwords.hash(body.password);
      await db.begin(async (tx) => {
        await holdPassword(tx, login);
        await tx`update users set password_hash = ${passwordHash} where id = ${userId}`;
        await endSessions(tx, userId, { except: sessionId });
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
