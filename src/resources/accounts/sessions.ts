// The operations on sessions: sign in, list, switch the organization, sign out.
import { z } from "zod";
import { recordAccountAudit } from "../../api/auth/account-audit.ts";
import { noSessionCookie } from "../../api/auth/cookies.ts";
import { endSessions } from "../../api/auth/sessions.ts";
import { invalid, notFound } from "../../api/jsonapi/errors.ts";
import { openOperation, operation, type AnyOperation } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { shortListOperation, single } from "../shared/short-lists.ts";
import { sessionUserOf } from "./principal.ts";
import { renderSession, sessionsOf } from "./render.ts";
import { emailField, givenPasswordField, sessionResource } from "./schema.ts";
import { answerSignedIn, holdPassword, SIGNED_IN, type SignIn } from "./sign-in.ts";

const TAG = "Accounts";
const CURRENT = "current";

const params = z.object({
  id: z.string().max(64).meta({ description: "The id of the session, or `current`.", example: CURRENT }),
});

/** The operations. */
export function sessionOperations(context: KindContext, signIn: SignIn): AnyOperation[] {
  return [
    signInOperation(context, signIn),
    listOperation(context),
    switchOperation(context),
    endOperation(context),
  ];
}

function signInOperation({ db }: KindContext, signIn: SignIn): AnyOperation {
  return openOperation({
    method: "POST",
    path: "/sessions",
    operationId: "createSession",
    tag: TAG,
    summary: "Sign in",
    description:
      "Begins a session with an e-mail address and a password. After some failures each further attempt has to wait longer.",
    ability: null,
    isOpen: true,
    body: z.object({ email: emailField, password: givenPasswordField }),
    success: SIGNED_IN,
    async handle({ body, client, requestId }) {
      const request = { client, requestId, method: "password" } as const;
      const login = await signIn.check(body, request);
      return await db.begin(async (tx) => {
        await holdPassword(tx, login);
        return await answerSignedIn(tx, { userId: login.userId, ...request });
      });
    },
  });
}

function listOperation({ db }: KindContext): AnyOperation {
  return shortListOperation({
    path: "/sessions",
    operationId: "listSessions",
    tag: TAG,
    summary: "List the user's sessions",
    description: "All sessions of the signed-in user, the last used first.",
    ability: null,
    noun: "sessions",
    resource: sessionResource,
    rowsOf: (principal) => sessionsOf(db, sessionUserOf(principal).userId),
    render: (row, principal) => renderSession(row, sessionUserOf(principal).sessionId),
  });
}

function switchOperation({ db }: KindContext): AnyOperation {
  return operation({
    method: "PATCH",
    path: "/sessions/:id",
    operationId: "updateSession",
    tag: TAG,
    summary: "Switch the organization",
    description: "Makes the session that asks work on another organization of its user.",
    ability: null,
    isForUsers: true,
    params,
    body: z.object({
      organization_id: z
        .string()
        .max(64)
        .meta({ description: "An organization of the user.", example: "org-1" }),
    }),
    success: single(sessionResource, "The session."),
    async handle({ principal, params: { id }, body: { organization_id: organizationId } }) {
      const { userId, sessionId } = sessionUserOf(principal);
      if (id !== CURRENT && id !== sessionId) throw notFound("session");
      const rows = await db`
        update sessions s set organization_id = m.organization_id from members m
        where s.id = ${sessionId} and m.user_id = s.user_id and m.organization_id = ${organizationId}
        returning s.id`;
      if (rows.length === 0) {
        throw invalid({ organization_id: ["The field organization_id is no organization of yours."] });
      }
      const [row] = await sessionsOf(db, userId, sessionId);
      if (row === undefined) throw notFound("session");
      return { document: { data: renderSession(row, sessionId) } };
    },
  });
}

function endOperation({ db }: KindContext): AnyOperation {
  return operation({
    method: "DELETE",
    path: "/sessions/:id",
    operationId: "deleteSession",
    tag: TAG,
    summary: "Sign out",
    description:
      "Ends a session of the user at once, with the streams that it follows; `current` is the session that asks.",
    ability: null,
    isForUsers: true,
    params,
    success: { status: 204, description: "The session has ended." },
    async handle({ principal, params: { id }, client, requestId }) {
      const { userId, sessionId } = sessionUserOf(principal);
      const only = id === CURRENT ? sessionId : id;
      const action = only === sessionId ? "sign-out" : "revoke";
      await db.begin(async (tx) => {
        if ((await endSessions(tx, userId, { only })) === 0) throw notFound("session");
        await recordAccountAudit(tx, { userId, client, requestId, action, kind: "sessions", id: only });
      });
      return only === sessionId ? { headers: noSessionCookie(client.origin) } : {};
    },
  });
}
