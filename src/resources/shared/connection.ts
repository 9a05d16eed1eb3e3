// How an answer tells where a resource can be reached, and the credentials to those who may see them.
import { can, type Ability, type Principal } from "../../api/auth/auth.ts";
import type { KindContext } from "../kind.ts";
import type { InstanceLogin } from "./rows.ts";

/** The credentials as members of a connection: under the empty name, as the contract has it, and inline, where clients read them. */
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
