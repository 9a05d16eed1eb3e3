// `POST /sign-in-links/redeem`: makes the first account, or sets a new password, and signs in.
import { z } from "zod";
import { recordAccountAudit } from "../../api/auth/account-audit.ts";
import { endSessions } from "../../api/auth/sessions.ts";
import { defaultOrganization } from "../../api/auth/tokens.ts";
import { invalid, type ApiError } from "../../api/jsonapi/errors.ts";
import { openOperation, type OpenOperation } from "../../api/operation/operation.ts";
import { failpoint } from "../../lib/failpoint.ts";
import type { Transaction } from "../../store/database.ts";
import type { KindContext } from "../kind.ts";
import { findLink, lockSetUp, takeLink } from "./links.ts";
import { emailField, passwordField, personField, secretField } from "./schema.ts";
import { answerSignedIn, SIGNED_IN, type SignIn } from "./sign-in.ts";
import { hasUsers, insertMember, insertUser, type NewUser } from "./store.ts";

const body = z.object({
  secret: secretField,
  email: emailField.optional(),
  name: personField.optional(),
  password: passwordField,
});

/** The operation. */
export function redeemOperation({ db }: KindContext, { passwords }: SignIn): OpenOperation {
  return openOperation({
    method: "POST",
    path: "/sign-in-links/redeem",
    operationId: "redeemSignInLink",
    tag: "Accounts",
    summary: "Redeem a one-time link",
    description:
      "Signs in with a one-time link. The link that the first start prints makes the account of the owner, with `email` and `name`. A link of `pilvi console link` sets a new password, and ends all other sessions of the user. A link works once.",
    ability: null,
    isOpen: true,
    body,
    success: SIGNED_IN,
    async handle({ body: { secret, email, name, password }, client, requestId }) {
      const link = await findLink(db, secret);
      if (link === undefined) throw unusable();
      const first = link.userId === null ? firstUserOf(email, name) : undefined;
      const passwordHash = await passwords.hash(password);
      await failpoint("link.checked");
      return await db.begin(async (tx) => {
        if (link.userId === null) await lockSetUp(tx);
        if (!(await takeLink(tx, link))) throw unusable();
        const userId =
          first === undefined || link.userId !== null
            ? await changePassword(tx, link.userId ?? "", passwordHash)
            : await makeOwner(tx, { ...first, passwordHash });
        const request = { userId, client, requestId };
        const details = { purpose: link.userId === null ? "first-account" : "new-password" };
        const entry = { action: "redeem", kind: "sign-in-links", id: link.id, details } as const;
        await recordAccountAudit(tx, { ...request, ...entry });
        const reply = await answerSignedIn(tx, { ...request, method: "link" });
        await failpoint("link.redeemed");
        return reply;
      });
    },
  });
}

/** @throws ApiError 422 */
function firstUserOf(email: string | undefined, name: string | undefined): Pick<NewUser, "email" | "name"> {
  if (email !== undefined && name !== undefined) return { email, name };
  throw invalid({
    ...(email === undefined && { email: ["The field email is required."] }),
    ...(name === undefined && { name: ["The field name is required."] }),
  });
}

async function makeOwner(tx: Transaction, user: NewUser): Promise<string> {
  if (await hasUsers(tx)) throw unusable();
  const userId = await insertUser(tx, user);
  await insertMember(tx, { organizationId: await defaultOrganization(tx), userId, role: "owner" });
  return userId;
}

async function changePassword(tx: Transaction, userId: string, passwordHash: string): Promise<string> {
  await tx`update users set password_hash = ${passwordHash} where id = ${userId}`;
  await endSessions(tx, userId);
  return userId;
}

function unusable(): ApiError {
  return invalid({
    secret: [
      "The link has expired, was used already, or never existed. Make a new one with: pilvi console link",
    ],
  });
}
