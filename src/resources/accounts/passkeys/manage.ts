// The operations on the passkeys of the signed-in user: list, add, remove.
import { z } from "zod";
import { recordAccountAudit } from "../../../api/auth/account-audit.ts";
import { holdSession } from "../../../api/auth/auth.ts";
import { ApiError, invalid, notFound } from "../../../api/jsonapi/errors.ts";
import { operation, type AnyOperation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { idParams, shortListOperation, single } from "../../shared/short-lists.ts";
import { sessionUserOf } from "../principal.ts";
import { getUser } from "../store.ts";
import { useChallenge, type Challenges } from "./challenges.ts";
import { relyingPartyOf, type RelyingParty } from "./relying-party.ts";
import { options, passkeyName, passkeyResource, registration } from "./schema.ts";
import { credentialsOf, insertPasskey, listPasskeys, type StoredKey } from "./store.ts";

const TAG = "Accounts";
const MAX_PASSKEYS = 20;
/** ES256, Ed25519 and RS256, which the runtime can verify. */
const ALGORITHMS = [-7, -8, -257];

const purposeOf = (userId: string) => `registration ${userId}`;

/** The operations. */
export function passkeyListOperations({ db }: KindContext, challenges: Challenges): AnyOperation[] {
  return [
    listOperation(db),
    optionsOperation(db, challenges),
    createOperation(db, challenges),
    removeOperation(db),
  ];
}

type Db = KindContext["db"];

function listOperation(db: Db): AnyOperation {
  return shortListOperation({
    path: "/passkeys",
    operationId: "listPasskeys",
    tag: TAG,
    summary: "List the user's passkeys",
    description: "The passkeys of the signed-in user, the oldest first.",
    ability: null,
    noun: "passkeys",
    resource: passkeyResource,
    rowsOf: (principal) => listPasskeys(db, sessionUserOf(principal).userId),
    render: (row) => row,
  });
}

function optionsOperation(db: Db, challenges: Challenges): AnyOperation {
  return operation({
    method: "POST",
    path: "/passkeys/options",
    operationId: "getPasskeyOptions",
    tag: TAG,
    summary: "Get the options for a new passkey",
    description:
      "What the browser needs to have an authenticator make a passkey, with a challenge of five minutes.",
    ability: null,
    isForUsers: true,
    canConflict: true,
    success: { status: 200, description: "The options.", schema: options },
    async handle({ principal, client }) {
      const { userId } = sessionUserOf(principal);
      const party = relyingPartyOf(client);
      const [user, excludeCredentials] = await Promise.all([getUser(db, userId), credentialsOf(db, userId)]);
      const { generateRegistrationOptions } = await import("./web-authn.ts");
      const data = await generateRegistrationOptions({
        rpName: "Pilvi",
        rpID: party.id,
        userID: new TextEncoder().encode(userId),
        userName: user.email,
        userDisplayName: user.name,
        challenge: challenges.create(purposeOf(userId)),
        excludeCredentials,
        attestationType: "none",
        supportedAlgorithmIDs: ALGORITHMS,
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
      });
      return { document: { data } };
    },
  });
}

function createOperation(db: Db, challenges: Challenges): AnyOperation {
  return operation({
    method: "POST",
    path: "/passkeys",
    operationId: "createPasskey",
    tag: TAG,
    summary: "Add a passkey",
    description: "Keeps the passkey that an authenticator made for the options of `POST /passkeys/options`.",
    ability: null,
    isForUsers: true,
    canConflict: true,
    body: z.object({ name: passkeyName.optional(), credential: registration }),
    success: single(passkeyResource, "The passkey.", 201),
    async handle({ principal, body: { name = "Passkey", credential }, client, requestId }) {
      const session = sessionUserOf(principal);
      const { userId } = session;
      const { key, challenge } = await verified(challenges, userId, relyingPartyOf(client), credential);
      return await db.begin(async (tx) => {
        await tx`select from users where id = ${userId} for no key update`;
        if ((await credentialsOf(tx, userId)).length >= MAX_PASSKEYS) {
          throw new ApiError(409, `You have ${MAX_PASSKEYS} passkeys already. Remove one first.`);
        }
        if (!(await useChallenge(tx, challenge))) throw refused();
        const id = await insertPasskey(tx, { ...key, userId, name });
        if (id === undefined) throw refused();
        const entry = { action: "create", kind: "passkeys", id, details: { name } } as const;
        await recordAccountAudit(tx, { userId, client, requestId, ...entry });
        await holdSession(tx, session);
        const [data] = await listPasskeys(tx, userId, id);
        return { document: { data } };
      });
    },
  });
}

/** Checks what the authenticator made. @throws ApiError 422 */
async function verified(
  challenges: Challenges,
  userId: string,
  party: RelyingParty,
  credential: z.output<typeof registration>,
): Promise<{ key: Omit<StoredKey, "id" | "userId">; challenge: string }> {
  let challenge = "";
  const { transports = [], ...response } = credential.response;
  const { verifyRegistrationResponse } = await import("./web-authn.ts");
  const result = await verifyRegistrationResponse({
    response: { ...credential, response, clientExtensionResults: {} },
    expectedChallenge: (given) => {
      challenge = given;
      return challenges.isValid(given, purposeOf(userId));
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: ALGORITHMS,
  }).catch((cause: unknown) => {
    throw refused(cause);
  });
  if (!result.verified) throw refused();
  const { id, publicKey, counter } = result.registrationInfo.credential;
  return { key: { credentialId: id, publicKey, counter, transports }, challenge };
}

function refused(cause?: unknown): ApiError {
  const errors = { credential: ["The passkey could not be verified. Ask for new options and try again."] };
  return new ApiError(422, invalid(errors).message, { errors, cause });
}

function removeOperation(db: Db): AnyOperation {
  return operation({
    method: "DELETE",
    path: "/passkeys/:id",
    operationId: "deletePasskey",
    tag: TAG,
    summary: "Remove a passkey",
    description: "The passkey signs in no more. Sessions that it began go on.",
    ability: null,
    isForUsers: true,
    params: idParams("passkey", "passkey-1"),
    success: { status: 204, description: "The passkey is removed." },
    async handle({ principal, params: { id }, client, requestId }) {
      const { userId } = sessionUserOf(principal);
      await db.begin(async (tx) => {
        const [gone] = await tx<{ name: string }[]>`
          delete from passkeys where id = ${id} and user_id = ${userId} returning name`;
        if (gone === undefined) throw notFound("passkey");
        const entry = { action: "delete", kind: "passkeys", id, details: { name: gone.name } } as const;
        await recordAccountAudit(tx, { userId, client, requestId, ...entry });
      });
      return {};
    },
  });
}
