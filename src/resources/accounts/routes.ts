// All operations of accounts.
import type { AnyOperation } from "../../api/operation/operation.ts";
import type { KindContext } from "../kind.ts";
import { meOperations } from "./me.ts";
import { Challenges } from "./passkeys/challenges.ts";
import { passkeyListOperations } from "./passkeys/manage.ts";
import { passkeySignInOperations } from "./passkeys/sign-in.ts";
import { redeemOperation } from "./redeem.ts";
import { sessionOperations } from "./sessions.ts";
import type { SignIn } from "./sign-in.ts";

/** The operations. */
export function accountOperations(context: KindContext, signIn: SignIn): AnyOperation[] {
  const challenges = new Challenges(context.vault.derivePassword("passkey challenges"));
  return [
    redeemOperation(context, signIn),
    ...sessionOperations(context, signIn),
    ...meOperations(context, signIn),
    ...passkeySignInOperations(context, challenges),
    ...passkeyListOperations(context, challenges),
  ];
}
