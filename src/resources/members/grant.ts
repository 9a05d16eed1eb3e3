// Which roles a token may give: never more than the token itself can do, and nothing beyond its limits.
import { abilitiesOf, type Role } from "../../api/auth/abilities.ts";
import { can, type Principal } from "../../api/auth/auth.ts";
import { forbidden } from "../../api/jsonapi/errors.ts";
import type { Queryable } from "../../store/database.ts";
import { boundsOf } from "../tokens/index.ts";

/** @throws ApiError 403 when somebody else than an owner deals with the role of an owner. */
export function refuseOwnerChange(principal: Principal, affected: Role): void {
  if (affected !== "owner" || (principal.kind === "session" && principal.role === "owner")) return;
  throw forbidden("Only an owner of the organization may make or change owners.");
}

/**
 * Checks who may give a role to a member or in an invitation. Members would else outlive a token and its limits.
 * @param kinds the plural nouns of all resource kinds.
 * @throws ApiError 403
 */
export async function checkRole(
  db: Queryable,
  principal: Principal,
  given: Role,
  kinds: readonly string[],
): Promise<void> {
  refuseOwnerChange(principal, given);
  if (principal.kind !== "token") return;
  const { isLimited } = await boundsOf(db, principal.tokenId);
  if (isLimited)
    throw forbidden("A token with limits of its own may not invite members or change their roles.");
  const missing = abilitiesOf(given, kinds).filter((ability) => !can(principal, ability));
  if (missing.length === 0) return;
  const names = missing.map((name) => `\`${name}\``).join(", ");
  throw forbidden(`A token can only give a role of which it has all abilities, and it lacks ${names}.`);
}
