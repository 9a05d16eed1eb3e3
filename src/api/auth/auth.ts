// The token or the session behind a request, and its abilities.
import { sha256Hex } from "../../lib/secrets.ts";
import type { Log } from "../../lib/log.ts";
import type { Database, Queryable, Transaction } from "../../store/database.ts";
import { unauthenticated } from "../jsonapi/errors.ts";
import type { Ability, Role } from "./abilities.ts";
import { findSession } from "./sessions.ts";

export type { Ability, Role } from "./abilities.ts";

interface Authority {
  /** Empty for a session without an organization, which then has no abilities. */
  organizationId: string;
  /** The family of the organization: all organizations that share quotas have one family. Empty without an organization. */
  familyId: string;
  /** `*` stands for all abilities. */
  abilities: readonly string[];
  /** The IP address of the request; empty or left out where it is not known. */
  address?: string | undefined;
}

/** The token of a request. */
export interface TokenPrincipal extends Authority {
  kind: "token";
  tokenId: string;
}

/** The session of a signed-in user. */
export interface SessionPrincipal extends Authority {
  kind: "session";
  sessionId: string;
  userId: string;
  /** The role in the session's organization; null without one. */
  role: Role | null;
}

export type Principal = TokenPrincipal | SessionPrincipal;

/** What a request proves its right with. */
export interface Credentials {
  /** The `Authorization` header, which wins over a session. */
  authorization: string | undefined;
  /** The secret in the session's cookie. */
  sessionSecret: string | undefined;
}

/** Whether the principal has the ability, such as `caches:credentials`. */
export function can({ abilities }: Authority, ability: string): boolean {
  return abilities.includes("*") || abilities.includes(ability);
}

/** Whether the principal has the ability, or any of several; null demands no ability. */
export function mayCall(principal: Principal, ability: Ability | readonly Ability[] | null): boolean {
  return ability === null || [ability].flat().some((each) => can(principal, each));
}

/** The id that requests, streams and actions are counted and recorded under: that of the token, or of the user. */
export function callerId(principal: Principal): string {
  return principal.kind === "token" ? principal.tokenId : principal.userId;
}

/**
 * Finds the token or the session of a request.
 * @param kinds the plural nouns of all resource kinds.
 * @throws ApiError 401 for credentials that are missing, unknown, expired or revoked.
 */
export async function authenticate(
  { db, log, kinds }: { db: Database; log: Log; kinds: readonly string[] },
  { authorization, sessionSecret }: Credentials,
): Promise<Principal> {
  if (authorization !== undefined) return await authenticateToken(db, log, authorization);
  if (sessionSecret === undefined) throw unauthenticated();
  const session = await findSession(db, log, { secret: sessionSecret, kinds });
  if (session === undefined) throw unauthenticated();
  return { kind: "session", ...session };
}

async function authenticateToken(db: Database, log: Log, header: string): Promise<TokenPrincipal> {
  const [, token] = /^Bearer +([^\s]+) *$/i.exec(header) ?? [];
  if (token === undefined) throw unauthenticated();
  const [row] = await db<(Omit<TokenPrincipal, "kind"> & { isUseStale: boolean })[]>`
    select t.id as "tokenId", t.organization_id as "organizationId", o.family_id as "familyId", t.abilities,
           coalesce(t.last_used_at < now() - interval '1 minute', true) as "isUseStale"
    from tokens t join organizations o on o.id = t.organization_id
    where t.token_hash = ${sha256Hex(token)} and t.revoked_at is null
      and (t.expires_at is null or t.expires_at > now())`;
  if (row === undefined) throw unauthenticated();
  const { isUseStale, ...principal } = row;
  if (isUseStale) noteUse(db, log, principal.tokenId);
  return { kind: "token", ...principal };
}

/** Whether the token or the session still has the rights that it had, for requests and answers that last. */
export async function isStillValid(db: Queryable, principal: Principal): Promise<boolean> {
  const rows =
    principal.kind === "token"
      ? db`
          select from tokens
          where id = ${principal.tokenId} and revoked_at is null and (expires_at is null or expires_at > now())`
      : db`
          select from sessions s
          left join members m on m.user_id = s.user_id and m.organization_id = ${principal.organizationId}
          where s.id = ${principal.sessionId} and s.expires_at > now()
            and m.role is not distinct from ${principal.role}::text`;
  return (await rows).length > 0;
}

/** @throws ApiError 401 when the token or the session has no more the rights that it had. */
export async function refuseRevoked(db: Queryable, principal: Principal): Promise<void> {
  if (!(await isStillValid(db, principal))) throw unauthenticated();
}

/**
 * Holds the rights of a principal until the transaction ends, so that whatever takes them away waits for its changes.
 * The transaction has locked the organization before.
 * @returns the user who the session is of, or who made the token; null for nobody.
 * @throws ApiError 401 when the rights are gone.
 */
export async function holdRights(tx: Transaction, principal: Principal): Promise<string | null> {
  if (principal.kind === "token") return await holdToken(tx, principal);
  const { organizationId, userId, role } = principal;
  const members = await tx`
    select from members
    where organization_id = ${organizationId} and user_id = ${userId} and role = ${role}::text for share`;
  if (members.length === 0) throw unauthenticated();
  await holdSession(tx, principal);
  return userId;
}

async function holdToken(tx: Transaction, { tokenId }: TokenPrincipal): Promise<string | null> {
  const [token] = await tx<{ userId: string | null }[]>`
    select user_id as "userId" from tokens
    where id = ${tokenId} and revoked_at is null and (expires_at is null or expires_at > now()) for share`;
  if (token === undefined) throw unauthenticated();
  return token.userId;
}

/**
 * Holds a session until the transaction ends, for changes of its user's account. What refers to an organization, such as
 * the audit, comes before, since a deletion of that locks its sessions after it.
 * @throws ApiError 401 when the session has ended.
 */
export async function holdSession(tx: Transaction, { sessionId }: SessionPrincipal): Promise<void> {
  const rows = await tx`select from sessions where id = ${sessionId} and expires_at > now() for share`;
  if (rows.length === 0) throw unauthenticated();
}

/** Not awaited, since no request needs the result; at most one write a minute and token takes effect. */
function noteUse(db: Database, log: Log, tokenId: string): void {
  const update = async () => {
    await db`
      update tokens set last_used_at = now()
      where id = ${tokenId} and coalesce(last_used_at < now() - interval '1 minute', true)`;
  };
  update().catch((error: unknown) => log.warn({ error, tokenId }, "could not note the use of a token"));
}
