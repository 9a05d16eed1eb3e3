// `DELETE /organizations/{id}`: deletes an organization that has no resources.
import { recordAudit } from "../../api/auth/audit.ts";
import type { SessionPrincipal } from "../../api/auth/auth.ts";
import { ApiError, forbidden, notFound } from "../../api/jsonapi/errors.ts";
import { operation, type AnyOperation } from "../../api/operation/operation.ts";
import type { Database, Transaction } from "../../store/database.ts";
import { notify } from "../../store/notifications.ts";
import { organizationsOf, sessionUserOf } from "../accounts/index.ts";
import { idParams } from "../shared/short-lists.ts";

/** The operation. */
export function deleteOrganizationOperation(db: Database): AnyOperation {
  return operation({
    method: "DELETE",
    path: "/organizations/:id",
    operationId: "deleteOrganization",
    tag: "Organizations",
    summary: "Delete an organization",
    description:
      "Deletes an organization with its members, invitations and tokens. Its owners alone may, once all its resources are deleted. The operator's organization stays, and so does the only organization of the user.",
    ability: null,
    isForUsers: true,
    canConflict: true,
    params: idParams("organization", "org-1"),
    success: { status: 204, description: "The organization is deleted." },
    async handle({ principal, params: { id }, requestId }) {
      const user = sessionUserOf(principal);
      await db.begin(async (tx) => {
        const name = await lockDeletable(tx, user, id);
        const actor = {
          kind: "session",
          userId: user.userId,
          organizationId: id,
          address: user.address,
        } as const;
        const entry = { requestId, action: "delete", kind: "organizations", id, details: { name } };
        await recordAudit(tx, { principal: actor, ...entry });
        await deleteRows(tx, id);
      });
      return {};
    },
  });
}

/** Has changes of the organization wait. @returns its name. @throws ApiError 403, 404, 409 */
async function lockDeletable(tx: Transaction, { userId }: SessionPrincipal, id: string): Promise<string> {
  // Of two deletions at once, the second would otherwise not see the first. A sign-in locks its user first as well.
  await tx`select from users where id = ${userId} for no key update`;
  // Nothing new may refer to the organization, so its key is locked.
  await tx`select from organizations where id = ${id} for update`;
  const own = await organizationsOf(tx, userId);
  const organization = own.find((each) => each.id === id);
  if (organization === undefined) throw notFound("organization");
  if (organization.role !== "owner") throw forbidden("Only an owner of the organization may delete it.");
  if (own.length === 1) throw conflict("It is your only organization. Make another one first.");
  const [state] = await tx<{ isDefault: boolean; resources: number; archives: number }[]>`
    select is_default as "isDefault",
           (select count(*)::int from allocations
             where organization_id = o.id and kind not in ('archives', 'applications', 'environments'))
             + (select count(*)::int from applications where organization_id = o.id) as resources,
           (select count(*)::int from archives where organization_id = o.id) as archives
    from organizations o where id = ${id}`;
  if (state?.isDefault === true) throw conflict("The organization of the operator cannot be deleted.");
  const resources = state?.resources ?? 0;
  if (resources > 0) {
    const noun = resources === 1 ? "one resource" : `${resources} resources`;
    throw conflict(`The organization still has ${noun}. Delete what it has first.`);
  }
  if (state !== undefined && state.archives > 0) {
    throw conflict("The organization still has backups of deleted resources. Purge them first.");
  }
  return organization.name;
}

function conflict(message: string): ApiError {
  return new ApiError(409, message);
}

/** The activity, the events and the usage of the organization stay until they are too old. */
async function deleteRows(tx: Transaction, id: string): Promise<void> {
  // The store keeps a key for a day, also when nothing is left of what the request made.
  await tx`
    delete from idempotency_keys where (organization_id, key) in (
      select organization_id, key from idempotency_keys
      where organization_id = ${id} order by key for update)`;
  await tx`
    delete from quota_usage
    where owner in (select id from tokens where organization_id = ${id}) or owner = (
      select family_id from organizations o
      where id = ${id} and not exists (select from organizations where family_id = o.family_id and id <> o.id))`;
  await tx`
    update sessions set organization_id = null
    where id in (select id from sessions where organization_id = ${id} order by id for no key update)`;
  for (const table of ["invitations", "members", "tokens"].map((name) => tx.unsafe(name))) {
    await tx`
      delete from ${table} where id in (
        select id from ${table} where organization_id = ${id} order by id for update)`;
  }
  await tx`
    with gone as (delete from organizations where id = ${id} returning id, name)
    insert into former_organizations (id, name) select id, name from gone`;
  // Ends the streams of its members and tokens.
  await notify(tx, "events", id);
}
