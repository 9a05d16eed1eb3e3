// The operations on members: list, change the role, remove.
import { z } from "zod";
import { abilitiesOf, type Role } from "../../api/auth/abilities.ts";
import { recordAudit } from "../../api/auth/audit.ts";
import { holdRights, type Principal } from "../../api/auth/auth.ts";
import { ApiError, notFound } from "../../api/jsonapi/errors.ts";
import { operation, type AnyOperation } from "../../api/operation/operation.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { role } from "../accounts/index.ts";
import { idParams, shortListOperation, single } from "../shared/short-lists.ts";
import { revokeTokensBeyond } from "../tokens/index.ts";
import { checkRole, refuseOwnerChange } from "./grant.ts";
import { memberResource, type MemberResource } from "./schema.ts";
import { countOwners, listMembers, lockMembers, withdrawInvitations, type MemberRow } from "./store.ts";

const TAG = "Members";
const KIND = "members";

const params = idParams("member", "member-1");

/** The operations. @param kinds the plural nouns of all resource kinds. */
export function memberListOperations(db: Database, kinds: readonly string[]): AnyOperation[] {
  return [listOperation(db), updateOperation(db, kinds), removeOperation(db)];
}

function listOperation(db: Database): AnyOperation {
  return shortListOperation({
    path: "/members",
    operationId: "listMembers",
    tag: TAG,
    summary: "List members",
    description: "The members of the organization, by name.",
    ability: "members:read",
    noun: "members",
    resource: memberResource,
    rowsOf: ({ organizationId }) => listMembers(db, organizationId),
    render,
  });
}

function updateOperation(db: Database, kinds: readonly string[]): AnyOperation {
  return operation({
    method: "PATCH",
    path: "/members/:id",
    operationId: "updateMember",
    tag: TAG,
    summary: "Change the role of a member",
    description:
      "Owners alone make and unmake owners, and the last owner stays. A token gives roles of which it has all abilities, and none when it has limits. Tokens that the member made and that are more able than the new role are revoked, and invitations that the new role may not make are withdrawn.",
    ability: "members:write",
    canConflict: true,
    params,
    body: z.object({ role }),
    success: single(memberResource, "The member."),
    async handle({ principal, params: { id }, body, requestId }) {
      const { organizationId } = principal;
      return await db.begin(async (tx) => {
        const member = await lockMember(tx, principal, id);
        await checkRole(tx, principal, body.role, kinds);
        if (member.role === "owner" && body.role !== "owner") await refuseLastOwner(tx, organizationId);
        await tx`update members set role = ${body.role} where id = ${id}`;
        await revokeTokensBeyond(
          tx,
          { organizationId, userId: member.userId },
          tokenAbilities(body.role, kinds),
        );
        await withdrawInvitations(tx, { organizationId, userId: member.userId }, rolesToGive(body.role));
        // Has the streams of the member check their rights.
        await notify(tx, "events", organizationId);
        await recordAudit(tx, {
          principal,
          requestId,
          action: "update",
          kind: KIND,
          id,
          details: { ...body },
        });
        return { document: { data: render({ ...member, role: body.role }) } };
      });
    },
  });
}

function removeOperation(db: Database): AnyOperation {
  return operation({
    method: "DELETE",
    path: "/members/:id",
    operationId: "deleteMember",
    tag: TAG,
    summary: "Remove a member",
    description:
      "Takes the member out of the organization at once, revokes the tokens that the member made there, and withdraws the invitations. Owners alone remove owners, and the last owner stays.",
    ability: "members:write",
    canConflict: true,
    params,
    success: { status: 204, description: "The member is removed." },
    async handle({ principal, params: { id }, requestId }) {
      const { organizationId } = principal;
      await db.begin(async (tx) => {
        const member = await lockMember(tx, principal, id);
        await removeMember(tx, organizationId, member);
        const details = { email: member.email, role: member.role };
        await recordAudit(tx, { principal, requestId, action: "delete", kind: KIND, id, details });
      });
      return {};
    },
  });
}

/** Takes a member, whose organization is locked, out of it with sessions, tokens and invitations. @throws ApiError 409 */
export async function removeMember(
  tx: Transaction,
  organizationId: string,
  { id, userId, role: former }: MemberRow,
): Promise<void> {
  if (former === "owner") await refuseLastOwner(tx, organizationId);
  await tx`delete from members where id = ${id}`;
  await tx`
    update sessions set organization_id = null
    where id in (
      select id from sessions where user_id = ${userId} and organization_id = ${organizationId}
      order by id for no key update)`;
  await revokeTokensBeyond(tx, { organizationId, userId }, []);
  await withdrawInvitations(tx, { organizationId, userId }, []);
}

/** A member that the principal may change. @throws ApiError 401, 403, 404 */
async function lockMember(tx: Transaction, principal: Principal, id: string): Promise<MemberRow> {
  await lockMembers(tx, principal.organizationId);
  await holdRights(tx, principal);
  const [member] = await listMembers(tx, principal.organizationId, id);
  if (member === undefined) throw notFound("member");
  refuseOwnerChange(principal, member.role);
  return member;
}

async function refuseLastOwner(tx: Transaction, organizationId: string): Promise<void> {
  if ((await countOwners(tx, organizationId)) > 1) return;
  throw new ApiError(409, "The organization must keep an owner. Make somebody else an owner first.");
}

/** The roles that a member with this role may invite to. */
function rolesToGive(of: Role): Role[] {
  if (of === "owner") return ["owner", "admin", "developer", "viewer"];
  return of === "admin" ? ["admin", "developer", "viewer"] : [];
}

/** What tokens of a member with this role may have. */
function tokenAbilities(of: Role, kinds: readonly string[]): string[] {
  return of === "viewer" ? [] : abilitiesOf(of, kinds).filter((ability) => !ability.startsWith("tokens:"));
}

function render(row: MemberRow): MemberResource {
  return {
    id: row.id,
    type: "members",
    attributes: {
      user_id: row.userId,
      name: row.name,
      email: row.email,
      role: row.role,
      created_at: row.createdAt,
    },
  };
}
