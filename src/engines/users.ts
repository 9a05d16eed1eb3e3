// How many users of an instance the host keeps outside the engine, and how large each of them may be.
import type { InstanceUser } from "../contracts/users.ts";

/** How many users of one instance the host keeps; a customer may make any number of them by SQL. */
export const MAX_USERS = 2_000;

/** The longest name that is kept, in bytes; no engine takes a longer name. */
const MAX_NAME_BYTES = 512;

/**
 * The longest verifier that is kept, in bytes: the limit of Postgres itself from version 18 on. A usual verifier has
 * 133.
 */
export const MAX_VERIFIER_BYTES = 512;

/** The most that all users of one instance may take as JSON, in bytes: the usual 2,000, or fewer with longer names. */
const MAX_TOTAL_BYTES = 640 * 1024;

/** The users that may log in to an instance, as far as the host keeps them. */
export interface UserList {
  users: InstanceUser[];
  /** How many more users there are. */
  leftOut: number;
}

/**
 * Bounds the users that came from an engine or a file.
 * @param own the users of the spec, which come first. Where users are left out, a missing user of the spec is added
 *   with the spec's verifier, so that the published password still wakes the instance.
 */
export function boundedUsers({ users, leftOut }: UserList, own: InstanceUser[]): UserList {
  const fitting = users.filter(isFitting);
  const ownNames = new Set(own.map(({ name }) => name));
  const { first = [], later = [] } = Object.groupBy(fitting, ({ name }) =>
    ownNames.has(name) ? "first" : "later",
  );
  const kept = within([...first, ...later]);
  if (leftOut === 0 && kept.length === users.length) return { users: kept, leftOut };
  const missing = own.filter(({ name }) => first.every((user) => user.name !== name));
  const cut = within([...first, ...missing, ...later]);
  return { users: cut, leftOut: leftOut + users.length - (cut.length - missing.length) };
}

/** The sentence for the customer about users that are left out; null when there are none. */
export function leftOutSentence(leftOut: number): string | null {
  if (leftOut === 0) return null;
  const subject = leftOut === 1 ? "1 user is" : `${leftOut} users are`;
  return (
    `${subject} left out and cannot log in: at most ${MAX_USERS} users of a cluster can, ` +
    `each with a password hash of at most ${MAX_VERIFIER_BYTES} bytes.`
  );
}

function isFitting({ name, verifier }: InstanceUser): boolean {
  return Buffer.byteLength(name) <= MAX_NAME_BYTES && Buffer.byteLength(verifier) <= MAX_VERIFIER_BYTES;
}

function within(users: InstanceUser[]): InstanceUser[] {
  let bytes = 0;
  const end = users.findIndex((user) => {
    bytes += Buffer.byteLength(JSON.stringify(user)) + 1;
    return bytes > MAX_TOTAL_BYTES;
  });
  return users.slice(0, Math.min(end === -1 ? users.length : end, MAX_USERS));
}
