// The token or the session behind a request, and its abilities.
import { sha256Hex } from "../../lib/secrets.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";
import { unauthenticated } from "../jsonapi/errors.ts";
import type { Ability, Role } from "./abilities.ts";
import { findSession } from "./sessions.ts";

export type { Ability, Role } from "./abilities.ts";

interface Authority {
  /** Empty for a session without an organization, which then has no abilities. */
  organizationId: string;
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
    select id as "tokenId", organization_id as "organizationId", abilities,
           coalesce(last_used_at < now() - interval '1 minute', true) as "isUseStale"
    from tokens
    where token_hash = ${sha256Hex(token)} and revoked_at is null
      and (expires_at is null or expires_at > now())`;
  if (row === undefined) throw unauthenticated();
  const { isUseStale, ...principal } = row;
  if (isUseStale) noteUse(db, log, principal.tokenId);
  return { kind: "token", ...principal };
}

/** Whether the token or the session still has the rights that it had, for answers that last. */
export async function isStillValid(db: Database, principal: Principal): Promise<boolean> {
  const rows =
    principal.kind === "token"
      ? db`
          select from tokens
          where id = ${principal.tokenId} and revoked_at is null and (expires_at is null or expires_at > now())`
      : db`
          select from sessions s join members m on m.user_id = s.user_id
          where s.id = ${principal.sessionId} and s.expires_at > now()
            and m.organization_id = ${principal.organizationId} and m.role = ${principal.role}`;
  return (await rows).length > 0;
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
