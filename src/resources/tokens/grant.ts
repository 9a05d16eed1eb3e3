// What a new token may be given: never more than the token or the member who makes it has.
import { allAbilities, unknownAbilities } from "../../api/auth/abilities.ts";
import { can, type Principal } from "../../api/auth/auth.ts";
import { forbidden, invalid } from "../../api/jsonapi/errors.ts";
import type { Database } from "../../store/database.ts";
import type { AbilityResource } from "./schema.ts";
import { boundsOf, type TokenScope } from "./store.ts";

/** Abilities that a developer has in a session, but cannot pass on to a token. */
const OF_SESSIONS = new Set(["tokens:read", "tokens:write"]);

/** The tokens that the principal may see and revoke: a developer's own, or else all of the organization. */
export function scopeOf(principal: Principal): TokenScope {
  const { organizationId } = principal;
  const isOwn = principal.kind === "session" && principal.role === "developer";
  return { organizationId, userId: isOwn ? principal.userId : null };
}

function canGrant(principal: Principal, ability: string): boolean {
  if (principal.kind === "session" && principal.role === "developer" && OF_SESSIONS.has(ability))
    return false;
  return can(principal, ability);
}

/** @throws ApiError 422 for abilities that do not exist, 403 for those that the principal may not give. */
export function checkAbilities(principal: Principal, abilities: string[], kinds: readonly string[]): void {
  const unknown = unknownAbilities(abilities, kinds);
  if (unknown.length > 0) {
    throw invalid({ abilities: [`These abilities do not exist: ${unknown.join(", ")}.`] });
  }
  const missing = abilities.filter((ability) => !canGrant(principal, ability));
  if (missing.length > 0) {
    const names = missing.map((name) => `\`${name}\``).join(", ");
    throw forbidden(`A token can only be given abilities that its maker may pass on, and not ${names}.`);
  }
}

/** @throws ApiError 403 or 422 when the new token would outlive the token that makes it, or escape its limits. */
export async function checkBounds(
  db: Database,
  principal: Principal,
  expiresAt: Date | undefined,
): Promise<void> {
  if (expiresAt !== undefined && expiresAt.getTime() <= Date.now()) {
    throw invalid({ expires_at: ["The field expires_at must be a time to come."] });
  }
  if (principal.kind !== "token") return;
  const own = await boundsOf(db, principal.tokenId);
  if (own.isLimited) throw forbidden("A token with limits of its own may not create tokens.");
  if (own.expiresAt === null || (expiresAt !== undefined && expiresAt <= own.expiresAt)) return;
  throw invalid({
    expires_at: [
      `The field expires_at must be ${own.expiresAt.toISOString()} at the latest, when this token ends.`,
    ],
  });
}

/** All abilities, and whether the principal may pass each on. */
export function renderAbilities(principal: Principal, kinds: readonly string[]): AbilityResource[] {
  return allAbilities(kinds).map(({ name, description }) => ({
    id: name,
    type: "abilities",
    attributes: { description, is_grantable: canGrant(principal, name) },
  }));
}
