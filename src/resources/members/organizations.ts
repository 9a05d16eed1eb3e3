// The operations on the organizations of the signed-in user: list, make, rename.
import { z } from "zod";
import { recordAudit } from "../../api/auth/audit.ts";
import { holdRights, type SessionPrincipal } from "../../api/auth/auth.ts";
import { DEFAULT_ORGANIZATION } from "../../api/auth/tokens.ts";
import { ApiError, forbidden, invalid, notFound } from "../../api/jsonapi/errors.ts";
import { operation, type AnyOperation } from "../../api/operation/operation.ts";
import { newId } from "../../lib/ids.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { isUniqueViolation } from "../../store/violations.ts";
import { insertMember, organizationsOf, sessionUserOf } from "../accounts/index.ts";
import { idParams, shortListOperation, single } from "../shared/short-lists.ts";
import { lockMembers } from "./store.ts";
import { organizationName, ownOrganizationResource, type OwnOrganizationResource } from "./schema.ts";

const TAG = "Organizations";
const KIND = "organizations";
const MAX_OWNED = 20;

const params = idParams("organization", "org-1");

const body = z.object({ name: organizationName });

/** The operations. */
export function organizationOperations(db: Database): AnyOperation[] {
  return [listOperation(db), createOperation(db), renameOperation(db)];
}

function listOperation(db: Database): AnyOperation {
  return shortListOperation({
    path: "/organizations",
    operationId: "listOrganizations",
    tag: TAG,
    summary: "List the user's organizations",
    description: "The organizations of the signed-in user, by name.",
    ability: null,
    noun: "organizations",
    resource: ownOrganizationResource,
    rowsOf: (principal) => organizationsOf(db, sessionUserOf(principal).userId),
    render,
  });
}

function createOperation(db: Database): AnyOperation {
  return operation({
    method: "POST",
    path: "/organizations",
    operationId: "createOrganization",
    tag: TAG,
    summary: "Create an organization",
    description:
      "Makes an organization whose owner is the user. Owners and admins of an organization may. It shares the quotas of the oldest organization that the user is an owner or admin of; with owners and admins of the operator's organization, it has quotas of its own.",
    ability: null,
    isForUsers: true,
    canConflict: true,
    body,
    success: single(ownOrganizationResource, "The organization.", 201),
    async handle({ principal, body: { name }, requestId }) {
      const user = sessionUserOf(principal);
      if (user.role !== "owner" && user.role !== "admin") {
        throw forbidden("Only owners and admins of an organization may make another one.");
      }
      return { document: { data: await createOrganization(db, user, name, requestId) } };
    },
  });
}

async function createOrganization(
  db: Database,
  principal: SessionPrincipal,
  name: string,
  requestId: string,
): Promise<OwnOrganizationResource> {
  if (name === DEFAULT_ORGANIZATION) throw takenName();
  const { userId, address } = principal;
  const id = newId("org");
  return await db.begin(async (tx) => {
    // Other creates of the user wait.
    await tx`select from users where id = ${userId} for no key update`;
    await lockMembers(tx, principal.organizationId);
    await holdRights(tx, principal);
    const [owned] = await tx<{ n: number }[]>`
      select count(*)::int as n from members where user_id = ${userId} and role = 'owner'`;
    if ((owned?.n ?? 0) >= MAX_OWNED) {
      throw new ApiError(409, `You own ${MAX_OWNED} organizations already.`);
    }
    const rows = await tx`
      insert into organizations (id, name, origin_id) values (${id}, ${name}, ${await originOf(tx, userId)})
      on conflict (name) do nothing returning id`;
    if (rows.length === 0) throw takenName();
    await insertMember(tx, { organizationId: id, userId, role: "owner" });
    const actor = { kind: "session", userId, organizationId: id, address } as const;
    await recordAudit(tx, {
      principal: actor,
      requestId,
      action: "create",
      kind: KIND,
      id,
      details: { name },
    });
    return render({ id, name, role: "owner" });
  });
}

/**
 * The first organization of the family that a new organization of the user belongs to, and whose quotas it shares: any
 * number of organizations would else have any number of quotas. A user may fill those of an organization only as its
 * owner or admin.
 * @returns null for a new family, which those begin who may act for the operator.
 */
async function originOf(tx: Transaction, userId: string): Promise<string | null> {
  const [oldest] = await tx<{ familyId: string; isDefault: boolean }[]>`
    select o.family_id as "familyId", o.is_default as "isDefault"
    from members m join organizations o on o.id = m.organization_id
    where m.user_id = ${userId} and m.role in ('owner', 'admin')
    order by o.is_default desc, o.created_at, o.id limit 1`;
  return oldest === undefined || oldest.isDefault ? null : oldest.familyId;
}

function renameOperation(db: Database): AnyOperation {
  return operation({
    method: "PATCH",
    path: "/organizations/:id",
    operationId: "updateOrganization",
    tag: TAG,
    summary: "Rename an organization",
    description: "Gives an organization another name. Its owners alone may.",
    ability: null,
    isForUsers: true,
    params,
    body,
    success: single(ownOrganizationResource, "The organization."),
    async handle({ principal, params: { id }, body: { name }, requestId }) {
      const { userId, address } = sessionUserOf(principal);
      const organization = (await organizationsOf(db, userId)).find((each) => each.id === id);
      if (organization === undefined) throw notFound("organization");
      if (organization.role !== "owner") {
        throw forbidden("Only an owner of the organization may rename it.");
      }
      await rename(db, { userId, address, id, name, requestId });
      return { document: { data: render({ ...organization, name }) } };
    },
  });
}

async function rename(
  db: Database,
  {
    id,
    name,
    requestId,
    ...user
  }: { id: string; name: string; requestId: string } & Pick<SessionPrincipal, "userId" | "address">,
): Promise<void> {
  const actor = { kind: "session", ...user, organizationId: id } as const;
  const entry = { principal: actor, requestId, action: "update", kind: KIND, id, details: { name } };
  try {
    await db.begin(async (tx) => {
      const rows = await tx`
        update organizations set name = ${name}
        where id = ${id} and (is_default or name = ${name} or ${name} <> ${DEFAULT_ORGANIZATION}) returning id`;
      if (rows.length === 0) throw takenName();
      await recordAudit(tx, entry);
    });
  } catch (error) {
    throw isUniqueViolation(error) ? takenName() : error;
  }
}

function takenName(): ApiError {
  return invalid({ name: ["The field name is the name of another organization."] });
}

function render({
  id,
  name,
  role,
}: { id: string } & OwnOrganizationResource["attributes"]): OwnOrganizationResource {
  return { id, type: "organizations", attributes: { name, role } };
}
