// Keeps the users of a spec as it says: their passwords are Pilvi's, whatever a customer makes of them by SQL.
import type { UserList } from "../../engines/users.ts";
import { withUsersOf } from "../manifest/known-users.ts";
import type { Runnable } from "./runner.ts";

/** What a look at the users of a running engine found. */
export interface UsersLook {
  /** All who may log in, those of the spec as it says. */
  users: UserList;
  /** Names of users of the spec that were not as it says, and are again. */
  restored: string[];
}

/**
 * Asks a running engine who may log in, and sets users of the spec again that have another password or are kept out.
 * @returns null for an engine that has the users of its spec only.
 * @throws when it does not answer, or they cannot be set.
 */
export async function lookAtUsers({ engine, context }: Runnable): Promise<UsersLook | null> {
  const found = await engine.users?.(context);
  if (found === undefined) return null;
  const { spec } = context;
  const verifiers = new Map(found.users.map(({ name, verifier }) => [name, verifier]));
  const restored = spec.users
    .filter(({ name, verifier }) => verifiers.get(name) !== verifier)
    .map(({ name }) => name);
  if (restored.length > 0) await engine.restoreUsers?.(context);
  return { users: { ...found, users: withUsersOf(spec, found.users) }, restored };
}

/** What the owner is told of users that had to be set again. */
export function restoredSentence(names: string[]): string {
  const users = names.map((name) => `"${name}"`).join(" and ");
  return `The password or the login of the user ${users} was changed by SQL. The published password is in force again; rotate the credentials for a new one.`;
}
