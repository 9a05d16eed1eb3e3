// The address of a resource in an answer, with the credentials for tokens that may see them.
import { can, type Ability, type Principal } from "../../api/auth/auth.ts";
import type { KindContext } from "../kind.ts";
import type { InstanceLogin } from "./rows.ts";

/**
 * The credentials as members of a connection: under the empty name, as the contract demands, and inline, where clients
 * read them.
 */
export function credentialsOf(
  row: InstanceLogin & { id: string },
  { vault }: KindContext,
  principal: Principal,
  ability: Ability,
) {
  if (!can(principal, ability)) return { "": [] };
  const credentials = { username: row.username, password: vault.open(row.sealedPassword, row.id) };
  return { "": credentials, ...credentials };
}
