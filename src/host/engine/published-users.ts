// Keeps the users of a spec as the spec says. Pilvi owns their passwords, so changes by SQL are undone.
import { primaryOf } from "../../contracts/instance-spec.ts";
import type { UserList } from "../../engines/users.ts";
import { withUsersOf } from "../manifest/known-users.ts";
import type { Runnable } from "./runner-parts.ts";

/** The result of a look at the users of a running engine. */
export interface UsersLook {
  /** All users that may log in; those of the spec have the spec's verifiers. */
  users: UserList;
  /** Names of users of the spec that had been changed, and are restored. */
  restored: string[];
}

/**
 * Reads the users of a running engine, and restores users of the spec that have another password or may not log in.
 * @returns null for an engine that has the users of its spec only.
 * @throws when the engine does not answer, or the users cannot be set.
 */
export async function lookAtUsers({ engine, context }: Runnable): Promise<UsersLook | null> {
  const found = await engine.users?.(context);
  if (found === undefined) return null;
  const { spec } = context;
  // A replica has the users of its primary, a moment later.
  if (primaryOf(spec) !== null)
    return { users: { ...found, users: withUsersOf(spec, found.users) }, restored: [] };
  const verifiers = new Map(found.users.map(({ name, verifier }) => [name, verifier]));
  const restored = spec.users
    .filter(({ name, verifier }) => verifiers.get(name) !== verifier)
    .map(({ name }) => name);
  if (restored.length > 0) await engine.restoreUsers?.(context);
  return { users: { ...found, users: withUsersOf(spec, found.users) }, restored };
}

/** The notice to the owner about restored users. */
export function restoredSentence(names: string[]): string {
  const users = names.map((name) => `"${name}"`).join(" and ");
  return `The password or the login of the user ${users} was changed by SQL. The published password is in force again; rotate the credentials for a new one.`;
}
