// Who asks, and what that token may do.
import { sha256Hex } from "../../lib/secrets.ts";
import type { Log } from "../../lib/log.ts";
import type { Database } from "../../store/database.ts";
import { unauthenticated } from "../jsonapi/errors.ts";

/** The token that a request came with. */
export interface Principal {
  tokenId: string;
  organizationId: string;
  /** `*` is everything. */
  abilities: readonly string[];
}

/** What a token may be allowed to do with resources of a kind, such as `caches:credentials`; `metrics:read` is of the same form. */
export type Ability = `${string}:${"read" | "write" | "credentials"}`;

/** Whether the token has the ability, such as `caches:credentials`. */
export function can(principal: Principal, ability: Ability): boolean {
  return principal.abilities.includes("*") || principal.abilities.includes(ability);
}

/** Whether the token has the ability, or one of several; null is no condition. */
export function mayCall(principal: Principal, ability: Ability | readonly Ability[] | null): boolean {
  return ability === null || [ability].flat().some((each) => can(principal, each));
}

/**
 * Finds the token of an `Authorization` header.
 * @throws ApiError 401 for one that is missing, unknown, expired or revoked.
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

/** Not awaited, since a request need not wait for it; at most one write a minute and token takes effect. */
function noteUse(db: Database, log: Log, tokenId: string): void {
  const update = async () => {
    await db`
      update tokens set last_used_at = now()
      where id = ${tokenId} and coalesce(last_used_at < now() - interval '1 minute', true)`;
  };
  update().catch((error: unknown) => log.warn({ error, tokenId }, "could not note the use of a token"));
}
