// How an answer tells where a resource can be reached, and the credentials to those who may see them.
import { can, type Principal } from "../../api/auth/auth.ts";
import type { Exposure } from "../../drivers/driver.ts";
import type { KindContext } from "../kind.ts";
import type { InstanceLogin } from "./rows.ts";

/** The name or address at which an instance with this exposure can be reached. */
export function hostnameOf(scope: Exposure["scope"], { hostnames }: KindContext): string {
  return scope === "public" ? hostnames.public : hostnames.loopback;
}

/** The credentials as members of a connection: under the empty name, as the contract has it, and inline, where clients read them. */
export function credentialsOf(
  row: InstanceLogin & { id: string },
  { vault }: KindContext,
  principal: Principal,
  ability: string,
) {
  if (!can(principal, ability)) return { "": [] };
  const credentials = { username: row.username, password: vault.open(row.sealedPassword, row.id) };
  return { "": credentials, ...credentials };
}
