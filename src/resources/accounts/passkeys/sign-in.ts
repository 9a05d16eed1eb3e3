// Signing in with a passkey: the options for the browser, and the check of what the authenticator signed.
import { z } from "zod";
import { ApiError } from "../../../api/jsonapi/errors.ts";
import { openOperation, type AnyOperation } from "../../../api/operation/operation.ts";
import type { KindContext } from "../../kind.ts";
import { recordFailedSignIn } from "../failed-sign-ins.ts";
import { answerSignedIn, SIGNED_IN } from "../sign-in.ts";
import { useChallenge, type Challenges } from "./challenges.ts";
import { relyingPartyOf, type RelyingParty } from "./relying-party.ts";
import { authentication, options } from "./schema.ts";
import { findKey, noteSignIn, type StoredKey } from "./store.ts";

const TAG = "Accounts";
const PURPOSE = "sign-in";

/** The operations. */
export function passkeySignInOperations({ db }: KindContext, challenges: Challenges): AnyOperation[] {
  return [optionsOperation(challenges), signInOperation(db, challenges)];
}

function optionsOperation(challenges: Challenges): AnyOperation {
  return openOperation({
    method: "POST",
    path: "/sessions/passkey-options",
    operationId: "getPasskeySignInOptions",
    tag: TAG,
    summary: "Get the options for a sign-in with a passkey",
    description: "What the browser needs to have an authenticator sign, with a challenge of five minutes.",
    ability: null,
    isOpen: true,
    canConflict: true,
    success: { status: 200, description: "The options.", schema: options },
    async handle({ client }) {
      const { generateAuthenticationOptions } = await import("./web-authn.ts");
      const data = await generateAuthenticationOptions({
        rpID: relyingPartyOf(client).id,
        challenge: challenges.create(PURPOSE),
        userVerification: "required",
      });
      return { document: { data } };
    },
  });
}

function signInOperation(db: KindContext["db"], challenges: Challenges): AnyOperation {
  return openOperation({
    method: "POST",
    path: "/sessions/passkey",
    operationId: "createSessionWithPasskey",
    tag: TAG,
    summary: "Sign in with a passkey",
    description:
      "Begins a session with what an authenticator signed for the options of `POST /sessions/passkey-options`.",
    ability: null,
    isOpen: true,
    canConflict: true,
    body: z.object({ credential: authentication }),
    success: SIGNED_IN,
    async handle({ body: { credential }, client, requestId }) {
      const party = relyingPartyOf(client);
      const key = await findKey(db, credential.id);
      if (key === undefined) throw refused();
      const request = { userId: key.userId, client, requestId, method: "passkey" } as const;
      const { challenge, newCounter } = await verified(challenges, key, party, credential).catch(
        async (refusal: unknown) => {
          await recordFailedSignIn(db, request);
          throw refusal;
        },
      );
      return await db.begin(async (tx) => {
        if (!(await useChallenge(tx, challenge))) throw refused();
        if (!(await noteSignIn(tx, key, newCounter))) throw refused();
        return await answerSignedIn(tx, request);
      });
    },
  });
}

/** Checks the signature. @throws ApiError 401 */
async function verified(
  challenges: Challenges,
  key: StoredKey,
  party: RelyingParty,
  credential: z.output<typeof authentication>,
): Promise<{ challenge: string; newCounter: number }> {
  let challenge = "";
  const { userHandle, ...response } = credential.response;
  const { verifyAuthenticationResponse } = await import("./web-authn.ts");
  const result = await verifyAuthenticationResponse({
    response: {
      ...credential,
      response: { ...response, ...(userHandle !== undefined && { userHandle }) },
      clientExtensionResults: {},
    },
    expectedChallenge: (given) => {
      challenge = given;
      return challenges.isValid(given, PURPOSE);
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    credential: { id: key.credentialId, publicKey: Uint8Array.from(key.publicKey), counter: key.counter },
    requireUserVerification: true,
  }).catch((cause: unknown) => {
    throw refused(cause);
  });
  if (!result.verified) throw refused();
  return { challenge, newCounter: result.authenticationInfo.newCounter };
}

function refused(cause?: unknown): ApiError {
  return new ApiError(401, "The passkey was not accepted.", {
    headers: { "WWW-Authenticate": "Bearer" },
    cause,
  });
}
