// The token behind a request, and its abilities.
import { sha256Hex } from "../../lib/secrets.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";
import { unauthenticated } from "../jsonapi/errors.ts";

/** The token of a request. */
export interface Principal {
  tokenId: string;
  organizationId: string;
  /** `*` stands for all abilities. */
  abilities: readonly string[];
}

/** An ability of a token for resources of a kind, such as `caches:credentials`; `metrics:read` has the same form. */
export type Ability = `${string}:${"read" | "write" | "credentials"}`;

/** Whether the token has the ability, such as `caches:credentials`. */
export function can(principal: Principal, ability: Ability): boolean {
  return principal.abilities.includes("*") || principal.abilities.includes(ability);
}

/** Whether the token has the ability, or any of several; null demands no ability. */
export function mayCall(principal: Principal, ability: Ability | readonly Ability[] | null): boolean {
  return ability === null || [ability].flat().some((each) => can(principal, each));
}

/**
 * Finds the token of an `Authorization` header.
 * @throws ApiError 401 for a token that is missing, unknown, expired or revoked.
 */
export async function authenticate(db: Database, log: Log, header: string | undefined): Promise<Principal> {
  const [, token] = /^Bearer +([^\s]+) *$/i.exec(header ?? "") ?? [];
  if (token === undefined) throw unauthenticated();
  const [row] = await db<(Principal & { isUseStale: boolean })[]>`
    select id as "tokenId", organization_id as "organizationId", abilities,
           coalesce(last_used_at < now() - interval '1 minute', true) as "isUseStale"
    from tokens
    where token_hash = ${sha256Hex(token)} and revoked_at is null
      and (expires_at is null or expires_at > now())`;
  if (row === undefined) throw unauthenticated();
  const { isUseStale, ...principal } = row;
  if (isUseStale) noteUse(db, log, principal.tokenId);
  return principal;
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
