// The rows of members and invitations.
import type { Role } from "../../api/auth/abilities.ts";
import { newId } from "../../lib/ids.ts";
import { newPassword, sha256Hex } from "../../lib/secrets.ts";
import type { Queryable, Transaction } from "../../store/database.ts";
import { momentSql } from "../shared/moments.ts";

const SECRET_CHARACTERS = 43;
const INVITATION_DAYS = 7;

/** A member; the time is UTC with microseconds, ISO 8601. */
export interface MemberRow {
  id: string;
  userId: string;
  name: string;
  email: string;
  role: Role;
  createdAt: string;
}

/** An invitation that can be accepted. */
export interface InvitationRow {
  id: string;
  role: Role;
  email: string | null;
  invitedBy: string | null;
  createdAt: string;
  expiresAt: string;
}

/** The members of an organization, by name. @param id only this member. */
export async function listMembers(db: Queryable, organizationId: string, id?: string): Promise<MemberRow[]> {
  return await db<MemberRow[]>`
    select m.id, m.user_id as "userId", u.name, u.email, m.role, ${db.unsafe(momentSql("m.created_at"))} as "createdAt"
    from members m join users u on u.id = m.user_id
    where m.organization_id = ${organizationId} and m.id = coalesce(${id ?? null}::text, m.id)
    order by u.name, m.id`;
}

/**
 * Has other changes of the organization's members wait until the transaction ends. A transaction that locks a user as
 * well does so before.
 */
export async function lockMembers(tx: Transaction, organizationId: string): Promise<void> {
  // A lock of the key would hold up sign-ins, which lock their user before they refer to the organization.
  await tx`select from organizations where id = ${organizationId} for no key update`;
}

/** How many owners an organization has. */
export async function countOwners(tx: Transaction, organizationId: string): Promise<number> {
  const [row] = await tx<{ n: number }[]>`
    select count(*)::int as n from members where organization_id = ${organizationId} and role = 'owner'`;
  return row?.n ?? 0;
}

/** How many members an organization has, with open invitations. */
export async function countPlaces(tx: Transaction, organizationId: string): Promise<number> {
  const [row] = await tx<{ n: number }[]>`
    select (select count(*) from members where organization_id = ${organizationId})::int
         + (select count(*) from invitations where organization_id = ${organizationId} and expires_at > now())::int as n`;
  return row?.n ?? 0;
}

/** The open invitations of an organization, the newest first. @param id only this invitation. */
export async function listInvitations(
  db: Queryable,
  organizationId: string,
  id?: string,
): Promise<InvitationRow[]> {
  return await db<InvitationRow[]>`
    select i.id, i.role, i.email, u.name as "invitedBy",
           ${db.unsafe(momentSql("i.created_at"))} as "createdAt",
           ${db.unsafe(momentSql("i.expires_at"))} as "expiresAt"
    from invitations i left join users u on u.id = i.invited_by
    where i.organization_id = ${organizationId} and i.expires_at > now() and i.id = coalesce(${id ?? null}::text, i.id)
    order by i.id desc`;
}

/** Makes an invitation, and deletes expired ones. @returns its id, and its secret, which is stored nowhere. */
export async function insertInvitation(
  tx: Transaction,
  values: {
    organizationId: string;
    role: Role;
    email: string | null;
    invitedBy: string | null;
    /** The token that makes it, which it does not outlive. */
    makerId: string | null;
  },
): Promise<{ id: string; secret: string }> {
  const id = newId("invitation");
  const secret = newPassword(SECRET_CHARACTERS);
  await tx`delete from invitations where organization_id = ${values.organizationId} and expires_at <= now()`;
  await tx`
    insert into invitations (id, organization_id, secret_hash, role, email, invited_by, maker_id, expires_at)
    values (${id}, ${values.organizationId}, ${sha256Hex(secret)}, ${values.role}, ${values.email},
            ${values.invitedBy}, ${values.makerId},
            least(now() + make_interval(days => ${INVITATION_DAYS}),
                  (select expires_at from tokens where id = ${values.makerId})))`;
  return { id, secret };
}

/** Takes back what a member, or a token of the member, has invited to, but for invitations to some roles. */
export async function withdrawInvitations(
  tx: Transaction,
  { organizationId, userId }: { organizationId: string; userId: string },
  kept: readonly Role[],
): Promise<void> {
  await tx`
    delete from invitations
    where organization_id = ${organizationId} and invited_by = ${userId}
      and role <> all(${tx.array([...kept], "text")})`;
}

/** An invitation by its secret. */
export interface OpenInvitation {
  id: string;
  organizationId: string;
  role: Role;
  email: string | null;
}

/** The invitation with this secret, unless it is used, expired or withdrawn. */
export async function findInvitation(db: Queryable, secret: string): Promise<OpenInvitation | undefined> {
  const [row] = await db<OpenInvitation[]>`
    select id, organization_id as "organizationId", role, email from invitations
    where secret_hash = ${sha256Hex(secret)} and expires_at > now()`;
  return row;
}

/** Uses an invitation up. @returns false when it is gone. */
export async function takeInvitation(tx: Transaction, id: string): Promise<boolean> {
  return (await tx`delete from invitations where id = ${id} and expires_at > now() returning id`).length > 0;
}
