// The operations on open invitations: list, make, withdraw.
import { z } from "zod";
import { recordAudit } from "../../api/auth/audit.ts";
import { holdRights } from "../../api/auth/auth.ts";
import { ApiError, notFound } from "../../api/jsonapi/errors.ts";
import { operation, type AnyOperation } from "../../api/operation/operation.ts";
import type { Database } from "../../store/database.ts";
import { emailField, role } from "../accounts/index.ts";
import { idParams, shortListOperation, single } from "../shared/short-lists.ts";
import { checkRole } from "./grant.ts";
import { invitationResource, type InvitationResource } from "./schema.ts";
import { countPlaces, insertInvitation, listInvitations, lockMembers, type InvitationRow } from "./store.ts";

const TAG = "Members";
const KIND = "invitations";
const MAX_PLACES = 500;

/** The operations. @param kinds the plural nouns of all resource kinds. */
export function invitationOperations(db: Database, kinds: readonly string[]): AnyOperation[] {
  return [listOperation(db), createOperation(db, kinds), withdrawOperation(db)];
}

function listOperation(db: Database): AnyOperation {
  return shortListOperation({
    path: "/invitations",
    operationId: "listInvitations",
    tag: TAG,
    summary: "List invitations",
    description: "The invitations that can be accepted, the newest first, without their links.",
    ability: "members:read",
    noun: "invitations",
    resource: invitationResource,
    rowsOf: ({ organizationId }) => listInvitations(db, organizationId),
    render,
  });
}

function createOperation(db: Database, kinds: readonly string[]): AnyOperation {
  return operation({
    method: "POST",
    path: "/invitations",
    operationId: "createInvitation",
    tag: TAG,
    summary: "Invite a member",
    description:
      "Makes a link that makes its reader a member, once and within seven days. The invitation of a token ends with it, and gives a role of which the token has all abilities. The answer shows the link, which is never shown again.",
    ability: "members:write",
    canConflict: true,
    body: z.object({ role, email: emailField.optional() }),
    success: single(invitationResource, "The invitation with its link.", 201),
    async handle({ principal, body, requestId, client }) {
      await checkRole(db, principal, body.role, kinds);
      const { organizationId } = principal;
      const email = body.email ?? null;
      return await db.begin(async (tx) => {
        await lockMembers(tx, organizationId);
        const invitedBy = await holdRights(tx, principal);
        if ((await countPlaces(tx, organizationId)) >= MAX_PLACES) {
          throw new ApiError(409, `The organization has ${MAX_PLACES} members and invitations already.`);
        }
        const makerId = principal.kind === "token" ? principal.tokenId : null;
        const values = { organizationId, role: body.role, email, invitedBy, makerId };
        const { id, secret } = await insertInvitation(tx, values);
        const details = { role: body.role, email };
        await recordAudit(tx, { principal, requestId, action: "create", kind: KIND, id, details });
        const [row] = await listInvitations(tx, organizationId, id);
        if (row === undefined) throw new Error("a new invitation is not there");
        // The secret stands after the `#`, which browsers send to no server and so no log has it.
        return { document: { data: withLink(render(row), `${client.origin}/invitation#${secret}`) } };
      });
    },
  });
}

function withdrawOperation(db: Database): AnyOperation {
  return operation({
    method: "DELETE",
    path: "/invitations/:id",
    operationId: "deleteInvitation",
    tag: TAG,
    summary: "Withdraw an invitation",
    description: "Makes the link of an invitation useless.",
    ability: "members:write",
    params: idParams("invitation", "invitation-1"),
    success: { status: 204, description: "The invitation is withdrawn." },
    async handle({ principal, params: { id }, requestId }) {
      await db.begin(async (tx) => {
        const rows = await tx`
          delete from invitations where id = ${id} and organization_id = ${principal.organizationId} returning id`;
        if (rows.length === 0) throw notFound("invitation");
        await recordAudit(tx, { principal, requestId, action: "delete", kind: KIND, id, details: {} });
      });
      return {};
    },
  });
}

function render(row: InvitationRow): InvitationResource {
  return {
    id: row.id,
    type: "invitations",
    attributes: {
      role: row.role,
      email: row.email,
      invited_by: row.invitedBy,
      created_at: row.createdAt,
      expires_at: row.expiresAt,
    },
  };
}

function withLink(resource: InvitationResource, link: string): InvitationResource {
  return { ...resource, attributes: { ...resource.attributes, link } };
}
