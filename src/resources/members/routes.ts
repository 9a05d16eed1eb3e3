// All operations on members, invitations and organizations.
import type { AnyOperation } from "../../api/operation/operation.ts";
import type { SignIn } from "../accounts/index.ts";
import type { KindContext } from "../kind.ts";
import { acceptOperation } from "./accept.ts";
import { deleteOrganizationOperation } from "./delete-organization.ts";
import { invitationOperations } from "./invitations.ts";
import { leaveOperation } from "./leave.ts";
import { memberListOperations } from "./members.ts";
import { organizationOperations } from "./organizations.ts";

/** The operations. @param kinds the plural nouns of all resource kinds. */
export function memberOperations(
  { db }: KindContext,
  signIn: SignIn,
  kinds: readonly string[],
): AnyOperation[] {
  return [
    ...memberListOperations(db, kinds),
    ...invitationOperations(db, kinds),
    acceptOperation(db, signIn),
    ...organizationOperations(db),
    deleteOrganizationOperation(db),
    leaveOperation(db),
  ];
}
