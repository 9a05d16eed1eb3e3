// `DELETE /organizations/{id}/membership`: a member leaves an organization.
import { recordAudit } from "../../api/auth/audit.ts";
import { notFound } from "../../api/jsonapi/errors.ts";
import { operation, type AnyOperation } from "../../api/operation/operation.ts";
import type { Database } from "../../store/database.ts";
import { sessionUserOf } from "../accounts/index.ts";
import { idParams } from "../shared/short-lists.ts";
import { removeMember } from "./members.ts";
import { listMembers, lockMembers } from "./store.ts";

/** The operation. */
export function leaveOperation(db: Database): AnyOperation {
  return operation({
    method: "DELETE",
    path: "/organizations/:id/membership",
    operationId: "leaveOrganization",
    tag: "Organizations",
    summary: "Leave an organization",
    description:
      "Takes the user out of an organization at once, revokes the tokens that the user made there, and withdraws the invitations. The last owner stays.",
    ability: null,
    isForUsers: true,
    canConflict: true,
    params: idParams("organization", "org-1"),
    success: { status: 204, description: "The user is no member any more." },
    async handle({ principal, params: { id: organizationId }, requestId }) {
      const { userId, address } = sessionUserOf(principal);
      await db.begin(async (tx) => {
        await lockMembers(tx, organizationId);
        const member = (await listMembers(tx, organizationId)).find((each) => each.userId === userId);
        if (member === undefined) throw notFound("organization");
        await removeMember(tx, organizationId, member);
        const actor = { kind: "session", userId, organizationId, address } as const;
        const details = { email: member.email, role: member.role };
        const entry = { requestId, action: "leave", kind: "members", id: member.id, details };
        await recordAudit(tx, { principal: actor, ...entry });
      });
      return {};
    },
  });
}
