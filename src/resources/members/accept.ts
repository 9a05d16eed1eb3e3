// `POST /invitations/accept`: makes the reader of an invitation a member, with a new account or a present one.
import { z } from "zod";
import { recordAudit } from "../../api/auth/audit.ts";
import type { Principal } from "../../api/auth/auth.ts";
import type { Client } from "../../api/auth/client.ts";
import { endSessions } from "../../api/auth/sessions.ts";
import { ApiError, invalid, unauthenticated } from "../../api/jsonapi/errors.ts";
import { openOperation, type AnyOperation } from "../../api/operation/operation.ts";
import type { Database, Transaction } from "../../store/database.ts";
import {
  answerSignedIn,
  emailField,
  findLogin,
  getUser,
  holdPassword,
  insertMember,
  insertUser,
  passwordField,
  personField,
  secretField,
  SIGNED_IN,
  type SignIn,
} from "../accounts/index.ts";
import { findInvitation, lockMembers, takeInvitation, type OpenInvitation } from "./store.ts";

const body = z.object({
  secret: secretField,
  email: emailField.optional(),
  name: personField.optional(),
  password: passwordField.optional(),
});

type Body = z.output<typeof body>;

/** Finds or makes the user within the transaction that makes the member. */
interface Joiner {
  /** Locks a present user; before the organization, as a sign-in does. */
  lock?(tx: Transaction): Promise<void>;
  /** @returns the id of the user. */
  join(tx: Transaction): Promise<string>;
}

/** The operation. */
export function acceptOperation(db: Database, signIn: SignIn): AnyOperation {
  return openOperation({
    method: "POST",
    path: "/invitations/accept",
    operationId: "acceptInvitation",
    tag: "Members",
    summary: "Accept an invitation",
    description:
      "Makes a member of the user who is signed in, or of the account with `email` and `password`, which is made with `name` when there is none. The session then works on the organization.",
    ability: null,
    isOpen: true,
    canConflict: true,
    body,
    success: SIGNED_IN,
    async handle({ principal, body: given, client, requestId }) {
      const invitation = await findInvitation(db, given.secret);
      if (invitation === undefined) throw unusable();
      const joiner = await joinerOf(db, signIn, { principal, given, client, requestId, invitation });
      const { organizationId, role } = invitation;
      return await db.begin(async (tx) => {
        await joiner.lock?.(tx);
        await lockMembers(tx, organizationId);
        if (!(await takeInvitation(tx, invitation.id))) throw unusable();
        const userId = await joiner.join(tx);
        if (!(await insertMember(tx, { organizationId, userId, role }))) throw alreadyMember();
        const actor = { kind: "session", userId, organizationId, address: client.address } as const;
        const details = { role };
        const entry = { requestId, action: "accept", kind: "invitations", id: invitation.id, details };
        await recordAudit(tx, { principal: actor, ...entry });
        return await answerSignedIn(tx, { userId, client, requestId, method: "invitation", organizationId });
      });
    },
  });
}

interface Asked {
  principal: Principal | null;
  given: Body;
  client: Client;
  requestId: string;
  invitation: OpenInvitation;
}

/** Checks who accepts. @throws ApiError 401, 422, 429 */
async function joinerOf(db: Database, signIn: SignIn, asked: Asked): Promise<Joiner> {
  const { principal, given, client, requestId, invitation } = asked;
  if (principal?.kind === "session") {
    const { userId, sessionId } = principal;
    refuseOtherAddress(invitation, (await getUser(db, userId)).email);
    return {
      async join(tx) {
        // A new session takes its place.
        if ((await endSessions(tx, userId, { only: sessionId })) === 0) throw unauthenticated();
        return userId;
      },
    };
  }
  const { email, name, password } = given;
  if (email === undefined || password === undefined) throw missing({ email, password });
  refuseOtherAddress(invitation, email);
  if ((await findLogin(db, email)) !== undefined) {
    const login = await signIn.check({ email, password }, { client, requestId, method: "invitation" });
    return { lock: (tx) => holdPassword(tx, login), join: async () => login.userId };
  }
  if (name === undefined) throw missing({ name });
  const passwordHash = await signIn.passwords.hash(password);
  return { join: (tx) => insertUser(tx, { email, name, passwordHash }) };
}

function missing(fields: Record<string, unknown>): ApiError {
  const names = Object.keys(fields).filter((name) => fields[name] === undefined);
  return invalid(Object.fromEntries(names.map((name) => [name, [`The field ${name} is required.`]])));
}

function refuseOtherAddress({ email }: OpenInvitation, given: string): void {
  if (email === null || email === given) return;
  throw invalid({ email: ["The invitation is for another e-mail address."] });
}

function unusable(): ApiError {
  return invalid({
    secret: ["The invitation has expired, was used or withdrawn, or never existed. Ask for a new one."],
  });
}

function alreadyMember(): ApiError {
  return new ApiError(409, "The account is a member of the organization already.");
}
